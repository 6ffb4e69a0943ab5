package io.penstock.wire.simulate;

import io.penstock.PermanentKvException;

/// A task of a simulated world failed; the seed runs it again.
public final class SimulationFailedException extends PermanentKvException {
  private final long seed;
  private final long nanos;

  SimulationFailedException(long seed, long nanos, Throwable cause) {
    super("seed " + seed + ": a task failed at " + nanos + " ns: " + cause, cause);
    this.seed = seed;
    this.nanos = nanos;
  }

  public long seed() {
    return seed;
  }

  /// Virtual time of the failure.
  public long nanos() {
    return nanos;
  }
}
