package io.penstock.examples.source;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import java.util.HashSet;
import java.util.Set;

/// Compares every byte of the slices of one stream with [SeededBytes], and records when they came. The seed of a block
/// is the low half of its hash.
public final class SliceReader {
  private final BlockLayout layout;
  private final Set<BlockKey> complete = new HashSet<>();
  private final long start = System.nanoTime();
  private long firstNanos;
  private long lastNanos;
  private int slices;
  private int wrongSpans;

  public SliceReader(BlockLayout layout) {
    this.layout = layout;
  }

  /// Takes over `slice`.
  public void take(LayerSlice slice) {
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

  public Reading reading() {
    return new Reading(complete.size(), slices, wrongSpans, firstNanos / 1e6, lastNanos / 1e6);
  }
}
