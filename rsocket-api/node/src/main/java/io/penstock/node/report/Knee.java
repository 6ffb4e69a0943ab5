package io.penstock.node.report;

import java.util.Optional;

/// The knee of a curve of hits over capacity: the capacity that lies highest above the straight line from no cache to
/// a cache of every block. Whatever is added there brings fewer hits a block than the whole cache does on average, and
/// whatever is taken away there costs more.
///
/// This is the knee of `Satopää` et al., *Finding a* `Kneedle` *in a Haystack* (2011), of a curve without noise, on
/// linear axes: memory is paid for by the byte. Points may come in any order.
public final class Knee {
  private final double allBlocks;
  private final double allHits;
  private long knee;
  private double height;

  /// @param allBlocks different blocks, which a cache may have all
  /// @param allHits hits, or hit rate, of a cache that has them all
  public Knee(long allBlocks, double allHits) {
    this.allBlocks = allBlocks;
    this.allHits = allHits;
  }

  /// Adds a point of the curve.
  ///
  /// @param hits as `allHits` counts them
  public Knee add(long capacityBlocks, double hits) {
    double above = hits / allHits - Math.min(1, capacityBlocks / allBlocks);
    if (above > height || (above == height && capacityBlocks < knee)) {
      height = above;
      knee = capacityBlocks;
    }
    return this;
  }

  /// Capacity at the knee, in blocks; empty if no point lies above the line.
  public Optional<Long> blocks() {
    return height > 0 ? Optional.of(knee) : Optional.empty();
  }
}
