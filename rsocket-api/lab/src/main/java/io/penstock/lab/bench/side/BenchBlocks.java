package io.penstock.lab.bench.side;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.PrefixHasher;
import io.penstock.node.shape.BlockShape;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Reservation;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/// The blocks of a bench, equal on both sides: random bytes that all blocks share, behind the hash of the key.
public final class BenchBlocks {
  private static final int FILL_AT_ONCE = 16;
  private static final int STAMP_BYTES = 2 * Long.BYTES;

  private final CacheSpace space;
  private final MemorySegment pattern;

  public BenchBlocks(int blockBytes, int layers) {
    this("bench", blockBytes, layers);
  }

  /// @param model that names the space
  public BenchBlocks(String model, int blockBytes, int layers) {
    this.space = BlockShape.of(blockBytes, layers).space(model);
    this.pattern = MemorySegment.ofArray(new byte[blockBytes]);
    SplittableRandom random = new SplittableRandom(blockBytes);
    for (long at = 0; at + Long.BYTES <= blockBytes; at += Long.BYTES) {
      pattern.set(ValueLayout.JAVA_LONG_UNALIGNED, at, random.nextLong());
    }
  }

  public CacheSpace space() {
    return space;
  }

  /// Keys of the blocks `from … to`.
  public List<BlockKey> keys(long from, long to) {
    List<BlockKey> keys = new ArrayList<>((int) (to - from));
    for (long number = from; number < to; number++) {
      keys.add(space.key(PrefixHasher.ofTraceId(number)));
    }
    return List.copyOf(keys);
  }

  /// Writes the bytes of `range` of the block of `key` to `memory`.
  public void write(BlockKey key, GranuleRange range, MemorySegment memory) {
    long offset = range.offset(space.layout());
    memory.copyFrom(pattern.asSlice(offset, memory.byteSize()));
    if (offset == 0) {
      memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, key.hash().high());
      memory.set(ValueLayout.JAVA_LONG_UNALIGNED, Long.BYTES, key.hash().low());
    }
  }

  /// Whether `block` has the bytes of its key.
  boolean isRight(Block block) {
    return block.read(memory -> memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 0) == block.key().hash().high()
        && memory.get(ValueLayout.JAVA_LONG_UNALIGNED, Long.BYTES) == block.key().hash().low()
        && memory.asSlice(STAMP_BYTES).mismatch(pattern.asSlice(STAMP_BYTES)) < 0);
  }

  /// Puts the blocks `0 … count` into `tier`.
  public void fill(BlockTier tier, int count) {
    GranuleRange all = GranuleRange.all(space.layout());
    for (int from = 0; from < count; from += FILL_AT_ONCE) {
      try (BlockScope scope = new BlockScope()) {
        Reservation reservation =
            BenchWait.of(tier.reserve(keys(from, Math.min(count, from + FILL_AT_ONCE)), scope));
        reservation.drafts().forEach(draft -> {
          draft.write(all, memory -> write(draft.key(), all, memory));
          draft.produced(all);
        });
        BenchWait.of(reservation.commit(reservation.drafts()));
      }
    }
  }
}
