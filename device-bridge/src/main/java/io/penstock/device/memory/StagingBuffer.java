package io.penstock.device.memory;

import io.penstock.block.Owned;
import java.lang.foreign.MemorySegment;

/// A buffer of a [StagingPool], lent to one owner; it still has the bytes of the owner before.
public final class StagingBuffer extends Owned {
  private final StagingPool pool;
  private final int index;

  StagingBuffer(StagingPool pool, int index) {
    this.pool = pool;
    this.index = index;
  }

  /// The memory of the buffer, for all threads, while this is open.
  public MemorySegment segment() {
    return pool.segment(index);
  }

  @Override
  protected void free() {
    pool.takeBack(index);
  }
}
