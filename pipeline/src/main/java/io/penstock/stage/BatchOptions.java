package io.penstock.stage;

import io.penstock.block.Checks;
import java.time.Duration;

/// When [Batch] ends a batch: at the first of these three.
///
/// @param maxCount most elements
/// @param maxBytes most bytes; an element that is heavier by itself makes a batch alone
/// @param maxDelay longest time from the arrival of a batch's first element until it is due
public record BatchOptions(int maxCount, long maxBytes, Duration maxDelay) {
  public BatchOptions {
    Checks.positive("maxCount", maxCount);
    Checks.positive("maxBytes", maxBytes);
    Checks.positive("maxDelay", maxDelay);
  }

  /// 64 elements, 1 MiB, 1 ms: enough bytes to pay for a hop between threads.
  public static BatchOptions defaults() {
    return new BatchOptions(64, 1L << 20, Duration.ofMillis(1));
  }

  public BatchOptions withMaxCount(int maxCount) {
    return new BatchOptions(maxCount, maxBytes, maxDelay);
  }

  public BatchOptions withMaxBytes(long maxBytes) {
    return new BatchOptions(maxCount, maxBytes, maxDelay);
  }

  public BatchOptions withMaxDelay(Duration maxDelay) {
    return new BatchOptions(maxCount, maxBytes, maxDelay);
  }
}
