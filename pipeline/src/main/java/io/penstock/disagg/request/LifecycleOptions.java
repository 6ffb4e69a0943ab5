package io.penstock.disagg.request;

import io.penstock.check.Checks;
import java.time.Duration;

/// Times and bounds of the life of requests, on both sides.
///
/// @param lease how long a prefill rank keeps blocks after the last byte of them moved, or a receiver said that it
///     would still read
/// @param bootstrap how long either side waits for the first sign of the other
/// @param waiting how long a receiver waits for the first byte of a source that knows the request
/// @param idle how long a source may send nothing once it has begun
/// @param longest how long a prefill rank keeps blocks at most, whatever moves
/// @param drain how long a receiver that has ended waits for acknowledgements of its sources before it gives its memory
///     up: late bytes find their ticket closed
/// @param signalTries how often a receiver tells a source that does not acknowledge
/// @param signalTimeout how long it waits for an acknowledgement
/// @param remembered how long a prefill rank knows a request that has ended, or of which it has only heard
/// @param tick precision of all these times
public record LifecycleOptions(Duration lease, Duration bootstrap, Duration waiting, Duration idle, Duration longest,
    Duration drain, int signalTries, Duration signalTimeout, Duration remembered, Duration tick) {
  private static final LifecycleOptions DEFAULTS = new LifecycleOptions(Duration.ofSeconds(30), Duration.ofSeconds(300),
      Duration.ofSeconds(300), Duration.ofSeconds(30), Duration.ofMinutes(30), Duration.ofSeconds(10), 8,
      Duration.ofSeconds(5), Duration.ofSeconds(300), Duration.ofMillis(100));

  public LifecycleOptions {
    Checks.positive("lease", lease);
    Checks.positive("bootstrap", bootstrap);
    Checks.positive("waiting", waiting);
    Checks.positive("idle", idle);
    Checks.positive("longest", longest);
    Checks.positive("drain", drain);
    Checks.positive("signalTries", signalTries);
    Checks.positive("signalTimeout", signalTimeout);
    Checks.positive("remembered", remembered);
    Checks.atLeastOneMilli("tick", tick);
    if (longest.compareTo(lease) < 0) {
      throw new IllegalArgumentException("longest must be >= lease " + lease + " (was " + longest + ")");
    }
  }

  /// Leases of 30 s that are renewed up to 30 min, 300 s for the first sign and the first byte, 30 s of silence, 10 s
  /// for a drain, 8 tries of 5 s a signal, ended requests remembered for 300 s, times precise to 100 ms.
  public static LifecycleOptions defaults() {
    return DEFAULTS;
  }

  public LifecycleOptions withLease(Duration life, Duration most) {
    return new LifecycleOptions(life, bootstrap, waiting, idle, most, drain, signalTries, signalTimeout, remembered,
        tick);
  }

  public LifecycleOptions withPatience(Duration firstSign, Duration firstByte, Duration silence) {
    return new LifecycleOptions(lease, firstSign, firstByte, silence, longest, drain, signalTries, signalTimeout,
        remembered, tick);
  }

  public LifecycleOptions withDrain(Duration time) {
    return new LifecycleOptions(lease, bootstrap, waiting, idle, longest, time, signalTries, signalTimeout, remembered,
        tick);
  }

  public LifecycleOptions withSignals(int tries, Duration timeout) {
    return new LifecycleOptions(lease, bootstrap, waiting, idle, longest, drain, tries, timeout, remembered, tick);
  }

  public LifecycleOptions withRemembered(Duration time) {
    return new LifecycleOptions(lease, bootstrap, waiting, idle, longest, drain, signalTries, signalTimeout, time,
        tick);
  }

  /// How long a receiver may wait for the first byte: a source that pushes must let it wait as long.
  public Duration firstByte() {
    return bootstrap.compareTo(waiting) >= 0 ? bootstrap : waiting;
  }

  /// How long a move may stay in `state`.
  Duration patience(RequestState state) {
    return switch (state) {
      case WAITING_FOR_INPUT -> waiting;
      case TRANSFERRING -> idle;
      default -> bootstrap;
    };
  }
}
