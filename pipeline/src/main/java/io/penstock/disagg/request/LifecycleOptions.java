package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.time.Duration;

/// Times and bounds of the life of requests, on both sides.
///
/// @param lease how long a prefill rank keeps blocks
/// @param patience how long either side waits for the other
/// @param signals how a receiver tells its sources
/// @param tick precision of all these times
public record LifecycleOptions(Lease lease, Patience patience, Signals signals, Duration tick) {
  private static final LifecycleOptions DEFAULTS = new LifecycleOptions(
      new Lease(Duration.ofSeconds(30), Duration.ofMinutes(30), Duration.ofSeconds(300)),
      new Patience(Duration.ofSeconds(300), Duration.ofSeconds(300), Duration.ofSeconds(30), Duration.ofSeconds(10)),
      new Signals(8, Duration.ofSeconds(5)), Duration.ofMillis(100));

  public LifecycleOptions {
    requireNonNull(lease, "lease");
    requireNonNull(patience, "patience");
    requireNonNull(signals, "signals");
    Checks.atLeastOneMilli("tick", tick);
  }

  /// How long a prefill rank keeps blocks.
  ///
  /// @param life after the last byte of them moved, or a receiver said that it would still read
  /// @param longest at most, whatever moves
  /// @param remembered how long the rank knows a request that has ended, or of which it has only received signals
  public record Lease(Duration life, Duration longest, Duration remembered) {
    public Lease {
      Checks.positive("lease", life);
      Checks.positive("longest", longest);
      Checks.positive("remembered", remembered);
      if (longest.compareTo(life) < 0) {
        throw new IllegalArgumentException("longest must be >= lease " + life + " (was " + longest + ")");
      }
    }
  }

  /// How long one side waits for the other.
  ///
  /// @param bootstrap either side for the first sign of the other
  /// @param waiting a receiver for the first byte of a source that knows the request
  /// @param idle how long a source may send nothing once it has begun
  /// @param drain a receiver that has ended for acknowledgements of its sources, before it gives its memory up: late
  ///     bytes find their ticket closed
  public record Patience(Duration bootstrap, Duration waiting, Duration idle, Duration drain) {
    public Patience {
      Checks.positive("bootstrap", bootstrap);
      Checks.positive("waiting", waiting);
      Checks.positive("idle", idle);
      Checks.positive("drain", drain);
    }

    /// Maximum time of a move in `state`.
    Duration in(RequestState state) {
      return switch (state) {
        case WAITING_FOR_INPUT -> waiting;
        case TRANSFERRING -> idle;
        default -> bootstrap;
      };
    }
  }

  /// How a receiver tells its sources.
  ///
  /// @param tries how often it tells one that does not acknowledge
  /// @param timeout how long it waits for an acknowledgement
  public record Signals(int tries, Duration timeout) {
    public Signals {
      Checks.positive("signalTries", tries);
      Checks.positive("signalTimeout", timeout);
    }
  }

  /// Leases of 30 s that are renewed up to 30 min, 300 s for the first sign and the first byte, 30 s of silence, 10 s
  /// for a drain, 8 tries of 5 s a signal, ended requests remembered for 300 s, times precise to 100 ms.
  public static LifecycleOptions defaults() {
    return DEFAULTS;
  }

  public LifecycleOptions withLease(Duration life, Duration most) {
    return new LifecycleOptions(new Lease(life, most, lease.remembered), patience, signals, tick);
  }

  public LifecycleOptions withPatience(Patience other) {
    return new LifecycleOptions(lease, other, signals, tick);
  }

  public LifecycleOptions withSignals(Signals other) {
    return new LifecycleOptions(lease, patience, other, tick);
  }

  /// Maximum wait of a receiver for the first byte: a source that pushes must wait as long.
  public Duration firstByte() {
    return patience.bootstrap.compareTo(patience.waiting) >= 0 ? patience.bootstrap : patience.waiting;
  }
}
