package io.penstock.lab.simulate;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.node.content.KvPattern;
import java.util.ArrayList;
import java.util.List;

/// Bytes that one request has received so far: every byte is generated again from its key and compared, every block in
/// order.
final class SliceCheck {
  private final BlockLayout layout;
  private final List<BlockKey> keys;
  private final Verdict verdict;
  /// For each block the offset of the next byte.
  private final int[] next;
  /// For each key of this pass its index in the request.
  private int[] asked = new int[0];

  SliceCheck(BlockLayout layout, List<BlockKey> keys, Verdict verdict) {
    this.layout = layout;
    this.keys = keys;
    this.verdict = verdict;
    this.next = new int[keys.size()];
  }

  /// Begins a pass: returns the keys of the blocks that are not whole, which start again.
  List<BlockKey> ask() {
    List<BlockKey> missing = new ArrayList<>();
    int[] positions = new int[keys.size()];
    for (int i = 0; i < next.length; i++) {
      if (next[i] < layout.blockBytes()) {
        next[i] = 0;
        positions[missing.size()] = i;
        missing.add(keys.get(i));
      }
    }
    asked = positions;
    return missing;
  }

  BlockKey key(int position) {
    return keys.get(asked[position]);
  }

  /// Takes over `slice`.
  void accept(LayerSlice slice) {
    try (slice) {
      for (int i = 0; i < slice.spans().size(); i++) {
        accept(asked[slice.position(i)], slice.range(), slice.spans().get(i));
      }
    }
  }

  boolean isComplete() {
    for (int offset : next) {
      if (offset < layout.blockBytes()) {
        return false;
      }
    }
    return true;
  }

  private void accept(int block, GranuleRange range, LayerSpan span) {
    BlockKey key = keys.get(block);
    int offset = range.offset(layout);
    verdict.require(offset == next[block], Invariant.SLICE_ORDER,
        "block " + block + ": byte " + next[block] + " was due, " + offset + " came");
    int differs = span.read(memory -> KvPattern.mismatch(key, layout, range, memory));
    verdict.require(differs < 0, Invariant.NOTHING_WRONG_DELIVERED,
        "block " + block + ", " + key + ", byte " + (offset + differs));
    next[block] = offset + range.bytes(layout);
  }
}
