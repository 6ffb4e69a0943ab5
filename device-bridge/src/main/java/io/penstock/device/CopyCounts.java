package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.TierStat;
import java.util.concurrent.atomic.LongAdder;

/// Counts the copies of one device; for implementations of [Device]. Safe from any thread.
public final class CopyCounts {
  private final String device;
  private final LongAdder calls = new LongAdder();
  private final LongAdder elements = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder fallbacks = new LongAdder();
  private final LongAdder failed = new LongAdder();

  /// @param device its name
  public CopyCounts(String device) {
    this.device = requireNonNull(device, "device");
  }

  /// Copies were asked for.
  public void called(long calls, long elements, long bytes) {
    this.calls.add(calls);
    this.elements.add(elements);
    this.bytes.add(bytes);
  }

  public void fellBack() {
    fallbacks.increment();
  }

  public void failed(long elements) {
    failed.add(elements);
  }

  public TierStat.Copies stat() {
    return new TierStat.Copies(device, calls.sum(), elements.sum(), bytes.sum(), fallbacks.sum(), failed.sum());
  }
}
