package io.penstock.node.client;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.node.replay.KvPattern;
import java.util.List;

/// Blocks whose bytes follow from their key, so that whoever reads them can tell whether they are right.
final class GeneratedInput implements BlockInput {
  private final List<BlockKey> keys;
  private List<BlockKey> window = List.of();
  private int next;

  GeneratedInput(List<BlockKey> keys) {
    this.keys = List.copyOf(keys);
  }

  @Override
  public List<BlockKey> next(int most) {
    window = keys.subList(next, Math.min(keys.size(), next + most));
    next += window.size();
    return window;
  }

  @Override
  public void fill(int index, BlockDraft draft) {
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, memory -> KvPattern.fill(draft.key(), draft.layout(), all, memory));
  }

  @Override
  public long paddingBytes() {
    return 0;
  }

  @Override
  public void close() {}
}
