package io.penstock.storage.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.check.Checksum;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Damaged records: each is refused with a typed error, or says exactly what was written.
@Timeout(600)
final class RecordFuzzTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 8, 8));

  @Test
  void damaged_96000Times_givesNoWrongByte() {
    fuzz(0, 96_000);
  }

  @Test
  @Tag("proof")
  void damaged_5000000Times_givesNoWrongByte() {
    fuzz(1_000_000, 6_000_000);
  }

  private void fuzz(long fromSeed, long toSeed) {
    List<byte[]> originals = originals();
    int versions = 0;
    int refused = 0;
    int survived = 0;
    for (long seed = fromSeed; seed < toSeed; seed++) {
      Random random = new Random(seed);
      int which = random.nextInt(originals.size());
      byte[] record = Mutations.mutate(originals.get(which), random);
      boolean forged = random.nextInt(4) == 0;
      if (forged) {
        Mutations.forge(record);
      }
      try {
        if (read(record, originals.get(which), forged)) {
          survived++;
        } else {
          refused++;
        }
      } catch (RecordVersionException e) {
        versions++;
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ", record " + which + (forged ? ", forged" : ""), e);
      }
    }
    assertThat(versions).as("other versions").isPositive();
    assertThat(refused).as("refused").isPositive();
    assertThat(survived).as("changes that change nothing").isPositive();
  }

  /// True if the record is taken for good, which it then must be.
  private static boolean read(byte[] record, byte[] original, boolean forged) {
    try (Arena memory = Arena.ofConfined()) {
      MemorySegment bytes =
          memory.allocate(Math.max(1, record.length)).asSlice(0, record.length).copyFrom(MemorySegment.ofArray(record));
      RecordHead head = RecordHead.decode(bytes, record.length);
      if (head == null || !head.isMarked(bytes.asSlice(record.length - 8L))) {
        return false;
      }
      long offset = head.bytes();
      for (int granule = 0; granule < head.granules(); granule++) {
        if (Checksum.of(bytes.asSlice(offset, head.granuleBytes(granule))) != head.checksum(granule)) {
          return false;
        }
        offset += head.granuleBytes(granule);
      }
      if (!forged) { // new checksums make a new record
        byte[] told = bytes.asSlice(0, offset).toArray(ValueLayout.JAVA_BYTE);
        assertThat(told).startsWith(original.length == record.length ? Arrays.copyOf(original, told.length) : told);
        assertThat(head.key().toString()).isEqualTo(key(original));
        assertThat(names(head.removals().size())).isEqualTo(head.removals());
      }
      return true;
    }
  }

  private static String key(byte[] original) {
    return BlockKey.read(ByteBuffer.wrap(original, 24, BlockKey.BYTES)).toString();
  }

  private List<byte[]> originals() {
    RecordWriter writer = new RecordWriter(SPACE.layout());
    List<byte[]> originals = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      long sequence = i + 1L;
      try (Block block = Blocks.block(arena, Blocks.key(SPACE, i))) {
        originals.add(block.read(payload -> joined(writer.block(block, payload, sequence, 3))));
      }
    }
    originals.add(joined(writer.removal(names(1), 9, 3)));
    originals.add(joined(writer.removal(names(7), 9, 3)));
    return originals;
  }

  private static List<RecordName> names(int count) {
    return LongStream.rangeClosed(1, count).mapToObj(i -> new RecordName(Blocks.key(SPACE, i), i)).toList();
  }

  private static byte[] joined(MemorySegment[] parts) {
    byte[] all = new byte[0];
    for (MemorySegment part : parts) {
      int at = all.length;
      all = Arrays.copyOf(all, at + (int) part.byteSize());
      MemorySegment.copy(part, ValueLayout.JAVA_BYTE, 0, all, at, (int) part.byteSize());
    }
    return all;
  }
}
