package io.penstock.block.session;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// What a request says of its session.
///
/// @param priority of the session from now on, 0 to [#MOST_PRIORITY]; blocks of a lower one leave first
/// @param keep how long the blocks of the session are preferred after its last request; null for the tier's own time
public record SessionUse(SessionId session, int priority, @Nullable Duration keep) {
  /// Highest priority.
  public static final int MOST_PRIORITY = 7;
  /// Priority of a session that states none.
  public static final int DEFAULT_PRIORITY = 3;

  public SessionUse {
    requireNonNull(session, "session");
    if (priority < 0 || priority > MOST_PRIORITY) {
      throw new IllegalArgumentException("priority must be in [0, " + MOST_PRIORITY + "] (was " + priority + ")");
    }
    if (keep != null && (keep.isNegative() || keep.compareTo(SessionBounds.MOST_KEEP) > 0)) {
      throw new IllegalArgumentException(
          "keep must be in [0, " + SessionBounds.MOST_KEEP.toSeconds() + " s] (was " + keep + ")");
    }
  }

  public static SessionUse of(SessionId session) {
    return new SessionUse(session, DEFAULT_PRIORITY, null);
  }
}
