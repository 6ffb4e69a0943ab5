package io.penstock.testkit;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.CacheSpace.Shard;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;

/// A model whose every byte is a function of its logical coordinates, and the shards of ranks that hold it: the
/// element-wise reference of moves between layouts.
///
/// @param planes of one head each
public record ReshardedModel(int layers, int heads, List<Plane> planes) {
  /// One side's rank: which layers and heads it holds, and how.
  public record Rank(ReshardedModel model, int firstLayer, int layers, int firstHead, int heads, int tokens,
      TokenOrder order) {
    public BlockLayout layout() {
      return new BlockLayout(layers, tokens, order, model.planes.stream()
          .map(plane -> new Plane(plane.kind(), plane.type(), heads, plane.width())).toList());
    }

    public CacheSpace space() {
      return CacheSpace.of("resharded", layout())
          .withShard(new Shard(model.layers, firstLayer, model.heads, firstHead));
    }

    public BlockKey key(int block) {
      return space().key(new BlockHash(7, block));
    }

    /// Block `block`, made.
    public Block block(BlockArena arena, int block) {
      BlockDraft draft = requireNonNull(arena.tryClaim(List.of(key(block)))).getFirst();
      produce(draft, block, GranuleRange.all(layout()));
      return draft.seal();
    }

    /// Writes granules of block `block`, and says that they are final.
    public void produce(BlockDraft draft, int block, GranuleRange granules) {
      int start = granules.offset(layout());
      draft.write(granules, memory -> each(block, granules, (offset, token, value) -> memory.set(JAVA_BYTE,
          offset - start, value)));
      draft.produced(granules);
    }

    /// Compares each byte of the tokens from `from` to before `end`, counted over all blocks; all others are zero.
    public void requireBytes(int block, int from, int end, MemorySegment memory) {
      each(block, GranuleRange.all(layout()), (offset, token, value) -> {
        byte wanted = token >= from && token < end ? value : 0;
        if (memory.get(JAVA_BYTE, offset) != wanted) {
          throw new AssertionError("byte %d of block %d of %s must be %d (was %d)".formatted(offset, block, this,
              wanted, memory.get(JAVA_BYTE, offset)));
        }
      });
    }

    private interface Visitor {
      void visit(long offset, int token, byte value);
    }

    private void each(int block, GranuleRange granules, Visitor visitor) {
      BlockLayout layout = layout();
      for (int granule = granules.first(); granule < granules.end(); granule++) {
        int plane = granule % model.planes.size();
        int element = model.planes.get(plane).width() * model.planes.get(plane).type().bytes();
        int layer = firstLayer + granule / model.planes.size();
        for (int token = 0; token < tokens; token++) {
          for (int head = 0; head < heads; head++) {
            int at = order == TokenOrder.NHD ? token * heads + head : head * tokens + token;
            int global = block * tokens + token;
            for (int i = 0; i < element; i++) {
              visitor.visit(layout.granuleOffset(granule) + (long) at * element + i, global,
                  value(layer, plane, global, firstHead + head, i));
            }
          }
        }
      }
    }
  }

  /// The byte at these coordinates of the model; never zero.
  public static byte value(int layer, int plane, int token, int head, int i) {
    int mixed = ((((layer * 31 + plane) * 1009 + token) * 31 + head) * 131 + i) * 0x9E3779B1;
    return (byte) (mixed >>> 24 | 1);
  }

  /// A random model: up to 6 layers, up to 8 heads of a power of two, one or two planes.
  public static ReshardedModel random(Random random) {
    int heads = 1 << random.nextInt(4);
    Plane.ElementType type = Plane.ElementType.values()[random.nextInt(Plane.ElementType.values().length)];
    List<Plane> planes = random.nextBoolean()
        ? List.of(new Plane(Plane.Kind.KEY, type, 1, 1 + random.nextInt(5)),
            new Plane(Plane.Kind.VALUE, type, 1, 1 + random.nextInt(5)))
        : List.of(new Plane(Plane.Kind.LATENT, type, 1, 1 + random.nextInt(9)));
    return new ReshardedModel(1 + random.nextInt(6), heads, planes);
  }

  public Rank rank(int firstLayer, int count, int firstHead, int headCount, int tokens, TokenOrder order) {
    return new Rank(this, firstLayer, count, firstHead, headCount, tokens, order);
  }
}
