package io.penstock.wire.slice;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockDraft;
import io.penstock.tier.slice.DraftWindow;
import io.penstock.wire.transport.frame.FrameBody;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A slice whose bytes go from the socket straight into the drafts of its window, in the order in which they come: no
/// copy is left. Their checksums are computed there as they come, and compared when all have come.
///
/// It keeps the memory until it is closed, whatever happens to the drafts.
public final class ArrivingSlice implements FrameBody {
  /// A longer header comes with its whole frame.
  private static final int MOST_HEADER_BYTES = 1 << 16;
  /// Shorter parts are not worth a read each.
  private static final int LEAST_PART_BYTES = 1 << 14;

  private final SliceHeader header;
  /// The memory of each block; the first that is not full is `part`.
  private final List<BlockDraft.Span> spans;
  private int part;
  private int filled;

  private ArrivingSlice(SliceHeader header, List<BlockDraft.Span> spans) {
    this.header = header;
    this.spans = spans;
  }

  /// @param window which the slice follows, with a draft at each of its positions
  /// @throws io.penstock.block.UnexpectedSliceException if a part of the range came before
  public static ArrivingSlice of(SliceHeader header, DraftWindow window) {
    List<BlockDraft.Span> spans = new ArrayList<>(header.positions().length);
    try {
      for (int position : header.positions()) {
        spans.add(window.writing(position, header.range()));
      }
    } catch (RuntimeException | Error e) {
      spans.forEach(BlockDraft.Span::close);
      throw e;
    }
    return new ArrivingSlice(header, spans);
  }

  /// Number of bytes of the header that starts `data`, or of those that say it; 0 for a slice that must come whole.
  public static int headBytes(ByteBuf data) {
    if (data.readableBytes() < SliceHeader.TABLES_OFFSET) {
      return SliceHeader.TABLES_OFFSET;
    }
    int start = data.readerIndex();
    int bytes = data.getIntLE(start + SliceHeader.HEADER_BYTES_OFFSET);
    return data.getIntLE(start + SliceHeader.MAGIC_OFFSET) != SliceHeader.MAGIC || SliceHeader.isReferring(data)
        || data.getIntLE(start + SliceHeader.PAYLOAD_BYTES_OFFSET)
            / LEAST_PART_BYTES < data.getIntLE(start + SliceHeader.BLOCKS_OFFSET)
        || bytes < SliceHeader.TABLES_OFFSET || bytes > MOST_HEADER_BYTES ? 0 : bytes;
  }

  public SliceHeader header() {
    return header;
  }

  @Override
  public ByteBuffer next() {
    return spans.get(part).memory().asSlice(filled).asByteBuffer();
  }

  @Override
  public void filled(int bytes) {
    spans.get(part).wrote(bytes);
    filled += bytes;
    if (filled == spans.get(part).memory().byteSize()) {
      part++;
      filled = 0;
    }
  }

  /// Compares the bytes of the `i`-th block, which are all in `draft`, with its checksums.
  ///
  /// @throws io.penstock.block.BlockCorruptException if a granule that is complete now differs
  void compare(int i, BlockDraft draft) {
    header.compare(i, draft, spans.get(i));
  }

  @Override
  public void close() {
    spans.forEach(BlockDraft.Span::close);
  }
}
