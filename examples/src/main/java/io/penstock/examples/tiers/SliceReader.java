package io.penstock.examples.tiers;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.examples.source.SeededBytes;
import java.util.HashSet;
import java.util.Set;

/// Makes every byte of the slices it takes again and compares, and notes when they came. Of one stream.
final class SliceReader {
  private final BlockLayout layout;
  private final Set<BlockKey> complete = new HashSet<>();
  private final long start = System.nanoTime();
  private long firstNanos;
  private long lastNanos;
  private int slices;
  private int wrongSpans;

  SliceReader(BlockLayout layout) {
    this.layout = layout;
  }

  /// Takes over `slice`.
  void take(LayerSlice slice) {
    lastNanos = System.nanoTime() - start;
    firstNanos = slices++ == 0 ? lastNanos : firstNanos;
    try (slice) {
      slice.spans().forEach(this::compare);
    }
  }

  private void compare(LayerSpan span) {
    long differs =
        span.read(memory -> SeededBytes.mismatch(span.key().hash().low(), span.range().offset(layout), memory));
    wrongSpans += differs >= 0 ? 1 : 0;
    if (span.range().end() == layout.granules()) {
      complete.add(span.key());
    }
  }

  Reading reading() {
    return new Reading(complete.size(), slices, wrongSpans, firstNanos / 1e6, lastNanos / 1e6);
  }
}
