package io.penstock.testkit;

import io.penstock.block.Block;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SliceShape;
import java.util.List;
import reactor.core.publisher.Flux;

/// What stages are fed with: numbered keys and blocks of one small space.
public final class StageFixtures {
  public static final CacheSpace SPACE = Blocks.smallSpace();
  private static final List<BlockKey> KEYS = Blocks.keys(SPACE, 0, 64);

  private StageFixtures() {}

  /// The key of block `number`, below 64.
  public static BlockKey key(int number) {
    return KEYS.get(number);
  }

  /// The keys `0 … count - 1`.
  public static List<BlockKey> keys(int count) {
    return KEYS.subList(0, count);
  }

  /// The blocks `0 … count - 1`, made one by one, owned by `scope`.
  public static Flux<Block> blocks(int count, BlockArena arena, BlockScope scope) {
    return Flux.range(0, count).map(i -> scope.adopt(Blocks.block(arena, key(i))));
  }

  /// Windows of 4 blocks and slices of `sliceBytes`.
  public static SliceShape split(int sliceBytes, SliceShape.Order order) {
    return SliceShape.defaults().withWindowBlocks(4).withSliceBytes(sliceBytes).withOrder(order);
  }
}
