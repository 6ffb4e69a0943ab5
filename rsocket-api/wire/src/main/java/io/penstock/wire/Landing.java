package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.LayerRange;
import java.util.List;

/// Copies the bytes of one block of a slice from a receive buffer into its draft, the one copy on the way in, and
/// verifies them there.
final class Landing {
  private Landing() {}

  /// @param index which block of the slice
  /// @throws io.penstock.block.BlockCorruptException if a granule differs from the checksum that came along; nothing is
  ///     stated then
  /// @throws WireFormatException if a part of the range came before
  static void land(ByteBuf data, SliceHeader header, int index, BlockDraft draft) {
    int bytes = header.range().bytes(draft.layout());
    int from = data.readerIndex() + header.bytes() + index * bytes;
    write(data, from, header, draft);
    draft.verify(header.range(), header.checksums()[index], "wire");
  }

  private static void write(ByteBuf data, int from, SliceHeader header, BlockDraft draft) {
    try {
      draft.write(header.range(), memory -> data.getBytes(from, memory.asByteBuffer()));
    } catch (IllegalStateException e) {
      if (draft.isClosed()) {
        throw e;
      }
      throw WireFormatException.slice("granules", "such as did not come before", header.range());
    }
  }

  /// @param startLayer granules of the layers before it are not expected
  /// @throws IncompleteBlockException if others of `draft` did not come
  static void requireComplete(BlockDraft draft, int startLayer) {
    BlockLayout layout = draft.layout();
    List<GranuleRange> missing =
        draft.unstated(GranuleRange.layers(layout, new LayerRange(startLayer, layout.layers())));
    if (!missing.isEmpty()) {
      throw new IncompleteBlockException(draft.key(), missing.getFirst().first(),
          missing.stream().mapToInt(GranuleRange::count).sum());
    }
  }
}
