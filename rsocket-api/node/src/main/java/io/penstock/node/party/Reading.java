package io.penstock.node.party;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.node.content.KvPattern;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.LongSupplier;

/// Progress of one request: the bytes of each block that were delivered and checked.
///
/// Bytes of a block come in order, each exactly once; a block cut off in mid-stream starts again in the next pass. For
/// one thread at a time.
final class Reading {
  private final BlockLayout layout;
  private final List<Long> ids;
  private final List<BlockKey> keys;
  private final LongSupplier nanoClock;
  private final long startNanos;
  /// For each block the offset of the next byte.
  private final int[] next;
  private final BitSet corrupt = new BitSet();
  /// For each key of this pass its index in the request.
  private int[] asked;
  /// For each block the bytes of it that came in this pass, as long as the memory is that they came in.
  private final long[] came;
  private int firstLayersLeft;
  private int blocksLeft;
  private long bytesDelivered;
  private long bytesVerified;
  private long firstSliceNanos;
  private long firstLayerNanos;
  private long lastLayerNanos;

  Reading(BlockLayout layout, List<Long> ids, List<BlockKey> keys, LongSupplier nanoClock) {
    this.layout = layout;
    this.ids = ids;
    this.keys = keys;
    this.nanoClock = nanoClock;
    this.startNanos = nanoClock.getAsLong();
    this.next = new int[keys.size()];
    this.came = new long[keys.size()];
    this.asked = new int[0];
    this.firstLayersLeft = keys.size();
    this.blocksLeft = keys.size();
  }

  /// Starts a pass: the keys of the blocks that are not whole yet.
  List<BlockKey> ask() {
    asked = new int[blocksLeft];
    List<BlockKey> missing = new ArrayList<>(blocksLeft);
    for (int i = 0; i < next.length; i++) {
      if (next[i] < layout.blockBytes()) {
        restart(i);
        asked[missing.size()] = i;
        missing.add(keys.get(i));
      }
    }
    return missing;
  }

  /// Trace id of the `position`-th key of this pass.
  long id(int position) {
    return ids.get(asked[position]);
  }

  /// Takes over `slice`: proves its bytes and closes it.
  void accept(LayerSlice slice) {
    try (slice) {
      GranuleRange range = slice.range();
      for (int i = 0; i < slice.spans().size(); i++) {
        accept(asked[slice.position(i)], range, slice.spans().get(i));
      }
    }
  }

  boolean isComplete() {
    return blocksLeft == 0;
  }

  int blocks() {
    return keys.size();
  }

  int blocksLeft() {
    return blocksLeft;
  }

  Delivery delivery(Answer first, int passes) {
    return new Delivery(keys.size(), first.hits(), first.prefixHits(), bytesDelivered, bytesVerified,
        corrupt.cardinality(),
        passes, firstSliceNanos, firstLayerNanos, lastLayerNanos);
  }

  private void restart(int block) {
    if (next[block] >= layout.layerBytes()) {
      firstLayersLeft++;
    }
    bytesVerified -= corrupt.get(block) ? 0 : next[block];
    bytesDelivered -= came[block]; // it is going to come once more
    came[block] = 0;
    next[block] = 0;
    corrupt.clear(block);
  }

  private void accept(int block, GranuleRange range, LayerSpan span) {
    BlockKey key = keys.get(block);
    int offset = range.offset(layout);
    int bytes = range.bytes(layout);
    if (offset != next[block]) {
      throw new SliceOrderException(key, next[block], offset);
    }
    int differs = span.read(memory -> {
      came[block] += memory.byteSize();
      bytesDelivered += memory.byteSize();
      return KvPattern.mismatch(key, layout, range, memory);
    });
    if (differs >= 0 && !corrupt.get(block)) {
      corrupt.set(block);
      bytesVerified -= offset; // a block is proven as a whole or not at all
    }
    next[block] = offset + bytes;
    bytesVerified += corrupt.get(block) ? 0 : bytes;
    if (firstSliceNanos == 0 && offset < layout.layerBytes()) {
      firstSliceNanos = nanoClock.getAsLong() - startNanos;
    }
    if (offset < layout.layerBytes() && next[block] >= layout.layerBytes() && --firstLayersLeft == 0) {
      firstLayerNanos = nanoClock.getAsLong() - startNanos;
    }
    if (next[block] == layout.blockBytes() && --blocksLeft == 0) {
      lastLayerNanos = nanoClock.getAsLong() - startNanos;
    }
  }
}
