package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.stage.Batch;
import java.time.Duration;

/// Options of a [DeviceBridge].
///
/// @param slots blocks of device memory, allocated at opening
/// @param batch when gathered copies go out; at most [CopyBatch#MAX_ELEMENTS] elements and `slots`
/// @param maxWaiters maximum number of windows that wait for slots
public record DeviceBridgeOptions(int slots, Batch.Options batch, int maxWaiters) {
  public DeviceBridgeOptions {
    requireNonNull(batch, "batch");
    Checks.positive("slots", slots);
    Checks.positive("maxWaiters", maxWaiters);
    int most = Math.min(slots, CopyBatch.MAX_ELEMENTS);
    if (batch.maxCount() > most) {
      throw new IllegalArgumentException("batch.maxCount must be <= " + most
          + ", the smaller of slots and what a device takes (was " + batch.maxCount() + " with slots " + slots + ")");
    }
  }

  /// Batches of up to 4,096 blocks or a quarter of the slots, 64 MiB, 1 ms; 64 windows may wait.
  public static DeviceBridgeOptions defaults(int slots) {
    int count = Math.clamp(slots / 4, 1, CopyBatch.MAX_ELEMENTS);
    return new DeviceBridgeOptions(slots, new Batch.Options(count, 64L << 20, Duration.ofMillis(1)), 64);
  }

  public DeviceBridgeOptions withBatch(Batch.Options batch) {
    return new DeviceBridgeOptions(slots, batch, maxWaiters);
  }
}
