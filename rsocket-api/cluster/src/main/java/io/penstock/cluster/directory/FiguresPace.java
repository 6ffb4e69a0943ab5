package io.penstock.cluster.directory;

import io.penstock.wire.cluster.Member.Figures;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// When a member tells its figures again. Every other member gets a message each time, so the wait grows with the
/// square of the members: the figures of all of them take 1,000 messages a second together, however busy they are. Not
/// thread-safe.
///
/// | Members | wait between two tellings |
/// |---:|---:|
/// | up to 32 | 1 s |
/// | 100 | 10 s |
/// | 1,000 | 17 minutes |
///
/// After a wait the first change that is large enough is told at once.
public final class FiguresPace {
  /// Messages a second that all members together send for their figures.
  static final long MOST_MESSAGES = 1000;
  private static final long LEAST_WAIT_NANOS = Duration.ofSeconds(1).toNanos();
  /// A change is large from this part of the capacity on: one in so many.
  private static final long LARGE = 100;
  /// A change of the age of the next victim is large from this part of it on: one in so many.
  private static final long IDLE_LARGE = 10;
  /// Waits after which figures are told anyway: when parts of a cluster meet, a record may be lost at some members.
  private static final int ALL_EACH = 10;

  private @Nullable Figures told;
  private long toldAtNanos;

  /// How long figures may be out of date where they change much.
  ///
  /// @param members of the cluster, this one too
  public static Duration waitOf(int members) {
    long messages = (long) members * Math.max(0, members - 1);
    return Duration.ofNanos(
        Math.max(LEAST_WAIT_NANOS, TimeUnit.SECONDS.toNanos(messages) / MOST_MESSAGES));
  }

  /// Whether figures are to be told: those that were never told are.
  ///
  /// @param members of the cluster, this one too
  /// @param nowNanos of a clock that never goes back
  public boolean isDue(Figures now, int members, long nowNanos) {
    Figures before = told;
    if (before == null) {
      return true;
    }
    long since = nowNanos - toldAtNanos;
    long wait = waitOf(members).toNanos();
    return since >= ALL_EACH * wait || (since >= wait && isLarge(before, now));
  }

  /// Notes that figures were told, for this reason or another one.
  public void told(Figures now, long nowNanos) {
    told = now;
    toldAtNanos = nowNanos;
  }

  /// Whether the bytes, those under way, the capacity or the age of the next victim changed much, or the member became
  /// idle or busy.
  private static boolean isLarge(Figures before, Figures now) {
    long large = Math.max(1, now.capacityBytes() / LARGE);
    return before.capacityBytes() != now.capacityBytes()
        || Math.abs(before.bytes() - now.bytes()) >= large
        || Math.abs(before.inFlightBytes() - now.inFlightBytes()) >= large
        || (before.inFlightBytes() == 0) != (now.inFlightBytes() == 0)
        || Math.abs(before.idleMillis() - now.idleMillis()) >= Math.max(1, before.idleMillis() / IDLE_LARGE);
  }
}
