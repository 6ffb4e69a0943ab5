package io.penstock.examples.disaggregated.rank;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane;
import io.penstock.block.PrefixHasher;
import io.penstock.examples.disaggregated.model.CachedHeads;
import java.util.ArrayList;
import java.util.List;

/// The cache of one request in one rank: the blocks of its layers, heads and tokens, off the heap, and nothing else.
public final class RankCache implements AutoCloseable {
  private final Shard shard;
  private final BlockLayout layout;
  private final BlockArena arena;
  private final BlockHash request;
  private final ElementCodec codec;
  private final List<KvBlock> blocks = new ArrayList<>();

  /// @param arena lends the memory
  /// @param request names the blocks
  RankCache(Shard shard, BlockArena arena, String request) {
    this.shard = shard;
    this.layout = arena.layout();
    this.arena = arena;
    this.request = PrefixHasher.ofName(request);
    this.codec = ElementCodec.of(layout.planes().getFirst().type());
  }

  public Shard shard() {
    return shard;
  }

  BlockLayout layout() {
    return layout;
  }

  /// The block that has `position`, claimed with those before it when it is first asked for.
  KvBlock blockAt(int position) {
    return block(shard.block(position));
  }

  /// This rank's block `number`, claimed with those before it when it is first asked for.
  public KvBlock block(int number) {
    while (blocks.size() <= number) {
      blocks.add(claimed(blocks.size()));
    }
    return blocks.get(number);
  }

  /// Claims the blocks of the first `tokens` tokens.
  public void claim(int tokens) {
    int all = shard.blocks(tokens);
    if (all > 0) {
      block(all - 1);
    }
  }

  private KvBlock claimed(int number) {
    BlockKey key = shard.space().key(PrefixHasher.ofPart(request, BlockHash.ROOT, shard.sequenceBlock(number)));
    List<BlockDraft> drafts = arena.tryClaim(List.of(key));
    if (drafts == null) {
      throw new IllegalStateException("arena must have a free slot (was full with " + arena.capacitySlots() + ")");
    }
    return new KvBlock(drafts.getFirst());
  }

  /// Writes the vector of one head of the token at `position`. Layers and heads are numbered as in the model.
  void write(int layer, int plane, int kvHead, int position, float[] vector) {
    codec.write(vector, blockAt(position).memory(layer - shard.firstLayer()),
        offset(plane, kvHead, shard.token(position)));
  }

  /// The rows of one plane of a layer, of all heads and of all tokens below `tokens` that this rank has: a row a head
  /// and token, heads first.
  CachedHeads heads(int layer, int plane, int tokens) {
    Plane shape = layout.planes().get(plane);
    int rows = rowsAHead(tokens);
    float[] values = new float[shape.heads() * rows * shape.width()];
    for (int head = 0; head < shape.heads(); head++) {
      for (int block = 0; block < rows / layout.tokens(); block++) {
        int at = (head * rows + block * layout.tokens()) * shape.width();
        readHead(layer, plane, shard.firstKvHead() + head, block, values, at);
      }
    }
    return new CachedHeads(shape.width(), values);
  }

  /// Tokens of one head, in order: together where the layout has them so.
  private void readHead(int layer, int plane, int kvHead, int block, float[] values, int at) {
    Plane shape = layout.planes().get(plane);
    boolean together = layout.order() == TokenOrder.HND || shape.heads() == 1;
    int run = together ? layout.tokens() : 1;
    for (int token = 0; token < layout.tokens(); token += run) {
      codec.read(block(block).memory(layer - shard.firstLayer()), offset(plane, kvHead, token), values,
          at + token * shape.width(), run * shape.width());
    }
  }

  /// Row of [#heads], of the head and token.
  int row(int kvHead, int position, int tokens) {
    return (kvHead - shard.firstKvHead()) * rowsAHead(tokens) + shard.block(position) * layout.tokens()
        + shard.token(position);
  }

  private int rowsAHead(int tokens) {
    return shard.blocks(tokens) * layout.tokens();
  }

  /// Inside a layer.
  private long offset(int plane, int kvHead, int token) {
    Plane shape = layout.planes().get(plane);
    int head = kvHead - shard.firstKvHead();
    int row = layout.order() == TokenOrder.NHD ? token * shape.heads() + head : head * layout.tokens() + token;
    return layout.granuleOffset(plane) + (long) row * shape.width() * shape.type().bytes();
  }

  /// Blocks, from the first on, whose tokens are all below `tokens`.
  public int fullBlocks(int tokens) {
    return shard.blocks(tokens / layout.tokens() * layout.tokens());
  }

  /// Seals the blocks whose tokens are all below `tokens`.
  void sealBelow(int tokens) {
    int full = fullBlocks(tokens);
    for (int number = 0; number < full; number++) {
      block(number).seal();
    }
  }

  /// Finishes a layer of the blocks from `first` to `end`, excluded.
  public void finish(int layer, int first, int end) {
    for (int number = first; number < end; number++) {
      block(number).finish(layer - shard.firstLayer());
    }
  }

  @Override
  public void close() {
    blocks.forEach(KvBlock::close);
    blocks.clear();
  }
}
