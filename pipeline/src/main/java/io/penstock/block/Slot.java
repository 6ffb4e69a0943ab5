package io.penstock.block;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/// One slot of an arena and the count of handles and pins on it; at zero the slot goes back to its arena.
final class Slot {
  final MemorySegment memory;
  private final SlabArena arena;
  private final int index;
  private final ByteBuffer view;
  private final AtomicInteger holds = new AtomicInteger();

  Slot(SlabArena arena, int index, MemorySegment memory) {
    this.arena = arena;
    this.index = index;
    this.memory = memory;
    this.view = memory.asByteBuffer();
  }

  /// The first hold, taken by the draft to which the slot is lent.
  void lend() {
    holds.setRelease(1);
  }

  /// Adds a hold unless the slot was already given back.
  boolean retain() {
    int count;
    do {
      count = holds.get();
      if (count == 0) {
        return false;
      }
    } while (!holds.compareAndSet(count, count + 1));
    return true;
  }

  void release() {
    if (holds.decrementAndGet() == 0) {
      arena.takeBack(index);
    }
  }

  int checksum(int offset, int bytes) {
    return Checksum.of(view.duplicate().position(offset).limit(offset + bytes));
  }

  ByteBuffer buffer(int offset, int bytes) {
    return view.slice(offset, bytes);
  }
}
