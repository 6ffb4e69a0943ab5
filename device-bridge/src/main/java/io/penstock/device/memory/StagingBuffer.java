package io.penstock.device.memory;

import io.penstock.block.Owned;
import java.lang.foreign.MemorySegment;

/// One owner's hold on a buffer of a [StagingPool]; what is in it is left from whoever had it before.
public final class StagingBuffer extends Owned {
  private final StagingPool pool;
  private final int index;

  StagingBuffer(StagingPool pool, int index) {
    this.pool = pool;
    this.index = index;
  }

  /// For all threads, while this is open.
  public MemorySegment segment() {
    return pool.segment(index);
  }

  @Override
  protected void free() {
    pool.takeBack(index);
  }
}
