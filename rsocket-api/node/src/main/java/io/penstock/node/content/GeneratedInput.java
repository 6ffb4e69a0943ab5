package io.penstock.node.content;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SpaceId;
import java.util.List;
import java.util.stream.LongStream;

/// Blocks whose bytes follow from their key, so that a reader can check them.
public final class GeneratedInput implements BlockInput {
  private final SpaceId space;
  private final long end;
  private long next;

  /// The blocks of `count` trace ids from `first` on.
  public GeneratedInput(SpaceId space, long first, long count) {
    this.space = space;
    this.next = first;
    this.end = Math.addExact(first, count);
  }

  @Override
  public List<BlockKey> next(int most) {
    long to = Math.min(end, next + most);
    List<BlockKey> window =
        LongStream.range(next, to).mapToObj(PrefixHasher::ofTraceId).map(hash -> new BlockKey(space, hash)).toList();
    next = to;
    return window;
  }

  @Override
  public void fill(int index, BlockDraft draft) {
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, memory -> KvPattern.fill(draft.key(), draft.layout(), all, memory));
  }

  /// Whether the bytes of `block` are not those that it was filled with.
  public static boolean differs(Block block) {
    return block
        .read(memory -> KvPattern.mismatch(block.key(), block.layout(), GranuleRange.all(block.layout()), memory)) >= 0;
  }

  @Override
  public long paddingBytes() {
    return 0;
  }

  @Override
  public void close() {}
}
