package io.penstock.block.session;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.time.Duration;

/// Bounds of what sessions get of a pool. A pool is of one space, and so of one tenant.
///
/// @param mostSessions sessions that the pool knows at a time; a request of one more is served without a session
/// @param share part of the blocks that one session is preferred with; its other blocks are victims as any
/// @param sessionsShare part of the blocks that all sessions are preferred with
/// @param activeKeep time after the last request of an active session until it counts as forgotten
/// @param pausedKeep the same of a paused one
public record SessionBounds(int mostSessions, double share, double sessionsShare, Duration activeKeep,
    Duration pausedKeep) {
  /// Longest time to keep a session after its last request.
  public static final Duration MOST_KEEP = Duration.ofHours(1);
  /// Maximum number of sessions of a pool, unless it is told otherwise.
  public static final int MOST_SESSIONS = 1 << 12;

  public SessionBounds {
    Checks.positive("mostSessions", mostSessions);
    requirePart("share", share);
    requirePart("sessionsShare", sessionsShare);
    requireKeep("activeKeep", activeKeep);
    requireKeep("pausedKeep", pausedKeep);
  }

  private static void requirePart(String name, double part) {
    if (!(part > 0 && part <= 1)) {
      throw new IllegalArgumentException(name + " must be in (0, 1] (was " + part + ")");
    }
  }

  private static void requireKeep(String name, Duration keep) {
    if (requireNonNull(keep, name).isNegative() || keep.compareTo(MOST_KEEP) > 0) {
      throw new IllegalArgumentException(name + " must be in [0, " + MOST_KEEP.toSeconds() + " s] (was " + keep + ")");
    }
  }

  /// An eighth of the blocks for a session and seven eighths for all; a minute, and ten for a paused session.
  public static SessionBounds defaults() {
    return new SessionBounds(MOST_SESSIONS, 0.125, 0.875, Duration.ofMinutes(1), Duration.ofMinutes(10));
  }

  public SessionBounds withMostSessions(int most) {
    return new SessionBounds(most, share, sessionsShare, activeKeep, pausedKeep);
  }
}
