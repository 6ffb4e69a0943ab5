package io.penstock.storage.engine;

import io.penstock.check.Checksum;
import io.penstock.storage.check.RecordCheck;
import io.penstock.storage.check.SegmentWalk;
import io.penstock.storage.engine.EngineFailure.SegmentUnreadableException;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.function.Consumer;

/// Records whose bytes are a function of a number, and what is needed to compare them.
public final class Records {
  private static final int HEAD = 88;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Records() {}

  /// The record of `number`: its length, a multiple of 8, and its bytes follow from it.
  static MemorySegment of(long number, Arena arena) {
    Random random = new Random(number);
    return fill(arena.allocate(8L * (14 + random.nextInt(4000))), random);
  }

  public static MemorySegment ofBytes(long number, int bytes, Arena arena) {
    return fill(arena.allocate(bytes), new Random(number));
  }

  private static MemorySegment fill(MemorySegment record, Random random) {
    for (long i = 0; i < record.byteSize(); i += 8) {
      record.set(ValueLayout.JAVA_LONG_UNALIGNED, i, random.nextLong());
    }
    return record.byteSize() < HEAD + 16 ? record : withHead(record);
  }

  /// Makes it the record of a block of one granule.
  private static MemorySegment withHead(MemorySegment record) {
    int payload = (int) record.byteSize() - HEAD - 8;
    record.asSlice(0, HEAD).fill((byte) 0);
    record.set(LONG, 0, RecordFormat.MAGIC);
    int[] words =
        {RecordFormat.VERSION | 1 << 16, HEAD, 1, 0, 7, 7, 7, 7, 7, 7, 7, 7, 0, 1, payload, 1, 1, payload, 0, 0};
    for (int i = 0; i < words.length; i++) {
      record.set(INT, 8 + 4L * i, words[i]);
    }
    int crc = Checksum.of(record.asSlice(0, HEAD - 4));
    record.set(INT, HEAD - 4, crc);
    record.set(INT, record.byteSize() - 8, crc);
    record.set(INT, record.byteSize() - 4, ~crc);
    return record;
  }

  static void walk(SegmentWindow file, int segment, Consumer<Location> visitor) {
    new SegmentWalk(file, new SegmentWalk.Visitor() {
      @Override
      public boolean record(long at, RecordHead head) {
        visitor.accept(new Location(segment, at, RecordCheck.length(head)));
        return true;
      }

      @Override
      public void broken(long from, long to) {
        throw new AssertionError("no record begins from " + from + " to " + to + " of segment " + segment);
      }

      @Override
      public void unreadable(long at, SegmentUnreadableException why) {
        throw new AssertionError(why);
      }

      @Override
      public void end(long from, boolean isEmpty) {
        // whatever it is
      }
    }).run();
  }

  static MemorySegment read(SegmentEngine engine, Location at, Arena arena) {
    MemorySegment into = arena.allocate(at.length());
    engine.read(at, 0, into);
    return into;
  }

  /// Fails unless the bytes at `at` are those of the record of `number`.
  public static void assertRecord(SegmentEngine engine, Location at, long number) {
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
