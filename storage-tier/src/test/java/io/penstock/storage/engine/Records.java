package io.penstock.storage.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/// Records whose bytes are a function of a number, and what is needed to compare them.
final class Records {
  private Records() {}

  /// The record of `number`: its length, a multiple of 8, and its bytes follow from it.
  static MemorySegment of(long number, Arena arena) {
    Random random = new Random(number);
    return fill(arena.allocate(8L * (1 + random.nextInt(4000))), random);
  }

  static MemorySegment ofBytes(long number, int bytes, Arena arena) {
    return fill(arena.allocate(bytes), new Random(number));
  }

  private static MemorySegment fill(MemorySegment record, Random random) {
    for (long i = 0; i < record.byteSize(); i += 8) {
      record.set(ValueLayout.JAVA_LONG_UNALIGNED, i, random.nextLong());
    }
    return record;
  }

  static MemorySegment read(SegmentEngine engine, Location at, Arena arena) {
    MemorySegment into = arena.allocate(at.length());
    engine.read(at, 0, into);
    return into;
  }

  /// Fails unless the bytes at `at` are those of the record of `number`.
  static void assertRecord(SegmentEngine engine, Location at, long number) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment expected = of(number, arena);
      MemorySegment actual = read(engine, at, arena);
      long differs = expected.mismatch(actual);
      if (differs >= 0) {
        throw new AssertionError("record " + number + " at " + at + " must be as written (differs at " + differs + ")");
      }
    }
  }
}
