package io.penstock.lab.bench.cluster.scale;

import io.penstock.cluster.directory.BlockName;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Names with a number each, outside the heap, in a table of a fixed size with open addressing: 20 bytes a slot. Names
/// are as even as random ones, so their bits are their place. No name is ever taken out. Not thread-safe.
final class NameTable implements AutoCloseable {
  /// Slots for each name that it is made for.
  private static final double ROOM = 1.25;
  private static final int NAME_BYTES = 16;
  private static final int SLOT_BYTES = NAME_BYTES + Integer.BYTES;

  private final Arena arena = Arena.ofConfined();
  private final long slots;
  private final MemorySegment names;
  private final MemorySegment numbers;
  private long size;

  NameTable(long most) {
    this.slots = (long) (most * ROOM) + 2;
    this.names = arena.allocate(slots * NAME_BYTES, Long.BYTES);
    this.numbers = arena.allocate(slots * Integer.BYTES, Integer.BYTES);
  }

  /// The number of a name; 0 for a name that is not there.
  int get(BlockName name) {
    return numbers.getAtIndex(ValueLayout.JAVA_INT, slot(name));
  }

  /// @param number not 0
  void put(BlockName name, int number) {
    long slot = slot(name);
    if (numbers.getAtIndex(ValueLayout.JAVA_INT, slot) == 0) {
      if (++size == slots) {
        throw new IllegalStateException("names must be fewer than " + slots + " (was " + size + ")");
      }
      names.setAtIndex(ValueLayout.JAVA_LONG, 2 * slot, name.high());
      names.setAtIndex(ValueLayout.JAVA_LONG, 2 * slot + 1, name.low());
    }
    numbers.setAtIndex(ValueLayout.JAVA_INT, slot, number);
  }

  private long slot(BlockName name) {
    long slot = Math.unsignedMultiplyHigh(name.low(), slots);
    while (numbers.getAtIndex(ValueLayout.JAVA_INT, slot) != 0
        && (names.getAtIndex(ValueLayout.JAVA_LONG, 2 * slot) != name.high()
            || names.getAtIndex(ValueLayout.JAVA_LONG, 2 * slot + 1) != name.low())) {
      slot = slot + 1 == slots ? 0 : slot + 1;
    }
    return slot;
  }

  long size() {
    return size;
  }

  long bytes() {
    return slots * SLOT_BYTES;
  }

  @Override
  public void close() {
    arena.close();
  }
}
