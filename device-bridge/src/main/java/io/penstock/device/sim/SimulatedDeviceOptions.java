package io.penstock.device.sim;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.time.Duration;

/// Properties of a [SimulatedDevice].
///
/// @param ordinal number of the device on its host, below [#MAX_DEVICES]; its addresses begin with it
/// @param name named in errors and meters
/// @param capacityBytes maximum bytes allocated at a time
/// @param latency time that every batch takes, on the clock of the device's scheduler
/// @param bytesPerSecond rate of the link in addition, or [#UNLIMITED]
/// @param maxQueued maximum number of batches and allocations that wait
public record SimulatedDeviceOptions(int ordinal, String name, long capacityBytes, Duration latency,
    long bytesPerSecond,
    int maxQueued) {
  public static final int MAX_DEVICES = 4096;
  public static final long UNLIMITED = Long.MAX_VALUE;

  public SimulatedDeviceOptions {
    requireNonNull(name, "name");
    requireNonNull(latency, "latency");
    if (ordinal < 0 || ordinal >= MAX_DEVICES) {
      throw new IllegalArgumentException("ordinal must be in [0, " + MAX_DEVICES + ") (was " + ordinal + ")");
    }
    Checks.positive("capacityBytes", capacityBytes);
    Checks.positive("bytesPerSecond", bytesPerSecond);
    Checks.positive("maxQueued", maxQueued);
    Checks.notNegative("latency", latency);
  }

  /// Device 0, named `sim0`: no latency, unlimited bandwidth, 1,024 in the queue.
  public static SimulatedDeviceOptions defaults(long capacityBytes) {
    return new SimulatedDeviceOptions(0, "sim0", capacityBytes, Duration.ZERO, UNLIMITED, 1024);
  }

  /// Names it after its number, too.
  public SimulatedDeviceOptions withOrdinal(int ordinal) {
    return new SimulatedDeviceOptions(ordinal, "sim" + ordinal, capacityBytes, latency, bytesPerSecond, maxQueued);
  }

  public SimulatedDeviceOptions withLatency(Duration latency) {
    return new SimulatedDeviceOptions(ordinal, name, capacityBytes, latency, bytesPerSecond, maxQueued);
  }

  public SimulatedDeviceOptions withBytesPerSecond(long bytesPerSecond) {
    return new SimulatedDeviceOptions(ordinal, name, capacityBytes, latency, bytesPerSecond, maxQueued);
  }

  public SimulatedDeviceOptions withMaxQueued(int maxQueued) {
    return new SimulatedDeviceOptions(ordinal, name, capacityBytes, latency, bytesPerSecond, maxQueued);
  }

  /// Time that the link needs for `bytes`.
  long nanos(long bytes) {
    double transfer = bytesPerSecond == UNLIMITED ? 0 : bytes * 1e9 / bytesPerSecond;
    return latency.toNanos() + (long) Math.ceil(transfer);
  }
}
