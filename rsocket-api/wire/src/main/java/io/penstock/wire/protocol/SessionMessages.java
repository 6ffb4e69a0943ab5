package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.exactly;
import static io.penstock.wire.protocol.Fields.oneOf;
import static io.penstock.wire.protocol.Fields.present;

import io.penstock.block.SpaceId;
import io.penstock.block.session.SessionBounds;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The messages of the route `session`, and the session that other requests name; see [Messages] for what holds for
/// all.
public final class SessionMessages {
  private SessionMessages() {}

  /// The session of a request.
  ///
  /// @param id 1 to 64 bytes without a meaning
  /// @param priority 0 to 7; null for 3
  /// @param keepMillis how long the blocks are preferred after the last request; null for the node's own time
  @OmitsNulls
  public record Named(byte[] id, @Nullable Integer priority, @Nullable Long keepMillis) {
    public Named {
      int length = present("session.id", id).length;
      if (length == 0 || length > SessionId.MOST_BYTES) {
        throw WireFormatException.request("session.id", "of 1 to " + SessionId.MOST_BYTES + " bytes", length);
      }
      if (priority != null && (priority < 0 || priority > SessionUse.MOST_PRIORITY)) {
        throw WireFormatException.request("session.priority", "in [0, " + SessionUse.MOST_PRIORITY + "]", priority);
      }
      long most = SessionBounds.MOST_KEEP.toMillis();
      if (keepMillis != null && (keepMillis < 0 || keepMillis > most)) {
        throw WireFormatException.request("session.keepMillis", "in [0, " + most + "]", keepMillis);
      }
    }

    /// Null for none.
    public static @Nullable Named of(@Nullable SessionUse use) {
      if (use == null) {
        return null;
      }
      Duration keep = use.keep();
      return new Named(use.session().bytes(), use.priority(), keep == null ? null : (Long) keep.toMillis());
    }

    public SessionUse use() {
      return new SessionUse(SessionId.of(id), priority == null ? SessionUse.DEFAULT_PRIORITY : priority,
          keepMillis == null ? null : Duration.ofMillis(keepMillis));
    }

    /// Null for none.
    public static @Nullable SessionUse use(@Nullable Named named) {
      return named == null ? null : named.use();
    }
  }

  /// @param state a name of [SessionState]
  /// @param space whose session it is; null for the first
  @OmitsNulls
  public record SessionRequest(Named session, String state, byte @Nullable [] space) {
    public SessionRequest {
      present("session", session);
      oneOf(SessionState.class, "state", state);
      if (space != null) {
        exactly("space", space, SpaceId.BYTES);
      }
    }

    public SessionState sessionState() {
      return oneOf(SessionState.class, "state", state);
    }
  }

  /// @param known whether the node knows the session
  public record SessionReply(boolean known) {}
}
