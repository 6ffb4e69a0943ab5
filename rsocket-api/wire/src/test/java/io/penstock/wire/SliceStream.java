package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.testkit.Blocks;
import io.penstock.tier.slice.SlicePlan;
import io.penstock.wire.slice.SliceHeader;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/// The payloads of a valid stream of slices as byte arrays: what an honest peer sends.
public record SliceStream(CacheSpace space, int windowBlocks, int startLayer, int maxSliceBytes,
    SliceShape.Order order) {
  /// The slices of `positions` of `keys`, in windows.
  public List<byte[]> of(List<BlockKey> keys, List<Integer> positions) {
    List<byte[]> slices = new ArrayList<>();
    for (int from = 0; from < positions.size(); from += windowBlocks) {
      window(from / windowBlocks, keys, positions.subList(from, Math.min(from + windowBlocks, positions.size())),
          slices);
    }
    return slices;
  }

  public void window(int number, List<BlockKey> keys, List<Integer> positions, List<byte[]> to) {
    BlockLayout layout = space.layout();
    try (SlabArena arena = new SlabArena("honest peer", layout, positions.size(), 1)) {
      List<Block> blocks = positions.stream().map(position -> Blocks.block(arena, keys.get(position))).toList();
      List<SlicePlan.Cut> cuts = SlicePlan.of(layout, blocks.size(), startLayer, maxSliceBytes, order);
      for (int i = 0; i < cuts.size(); i++) {
        to.add(slice(new LayerSlice.Position(number, cuts.size() - 1 - i), cuts.get(i), blocks, positions));
      }
      blocks.forEach(Block::close);
    }
  }

  private byte[] slice(LayerSlice.Position place, SlicePlan.Cut cut, List<Block> blocks, List<Integer> positions) {
    int[] named = new int[cut.blocks()];
    List<LayerSpan> spans = new ArrayList<>();
    for (int i = 0; i < named.length; i++) {
      named[i] = positions.get(cut.firstBlock() + i);
      spans.add(blocks.get(cut.firstBlock() + i).span(cut.range()));
    }
    try (LayerSlice slice = new LayerSlice(place, cut.range(), named, spans)) {
      ByteBuf bytes = SliceHeader.encode(slice, space.id(), space.layout(), UnpooledByteBufAllocator.DEFAULT);
      ByteBuf whole = UnpooledByteBufAllocator.DEFAULT.heapBuffer().writeBytes(bytes);
      bytes.release();
      spans.forEach(span -> whole.writeBytes(span.memory().toArray(ValueLayout.JAVA_BYTE)));
      try {
        return ByteBufUtil.getBytes(whole);
      } finally {
        whole.release();
      }
    }
  }
}
