package io.penstock.examples.pipe;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.wire.protocol.Limits;
import java.util.List;

/// The sizes of a pipe; both ends must have equal `chunkBytes`, else the second one is refused.
///
/// @param chunkBytes bytes sent and checked as one, a multiple of 1 KiB; the smallest tensor takes one
/// @param chunksAhead chunks that the receiving end takes ahead of its reader, and its byte budget in chunks
/// @param maxTensorBytes largest tensor; the receiving end has room for two
public record PipeOptions(int chunkBytes, int chunksAhead, long maxTensorBytes) {
  private static final int ROW_BYTES = 1 << 10;
  private static final int MOST_SLOTS = 1 << 20;

  public PipeOptions {
    if (chunkBytes < 4 * ROW_BYTES || chunkBytes > Limits.LARGEST_SLICE_BYTES || chunkBytes % ROW_BYTES != 0) {
      throw new IllegalArgumentException(
          "chunkBytes must be a multiple of " + ROW_BYTES + " in [" + 4 * ROW_BYTES + ", "
              + Limits.LARGEST_SLICE_BYTES + "] (was " + chunkBytes + ")");
    }
    if (chunksAhead <= 0 || chunksAhead > 1024) {
      throw new IllegalArgumentException("chunksAhead must be in [1, 1024] (was " + chunksAhead + ")");
    }
    if (maxTensorBytes <= 0 || maxTensorBytes / chunkBytes > MOST_SLOTS) {
      throw new IllegalArgumentException(
          "maxTensorBytes must be in [1, " + MOST_SLOTS + " chunks] (was " + maxTensorBytes + ")");
    }
  }

  /// Chunks of 512 KiB, 8 of them ahead, tensors up to 64 MiB.
  public static PipeOptions defaults() {
    return new PipeOptions(512 << 10, 8, 64 << 20);
  }

  public PipeOptions withChunkBytes(int chunkBytes) {
    return new PipeOptions(chunkBytes, chunksAhead, maxTensorBytes);
  }

  public PipeOptions withChunksAhead(int chunksAhead) {
    return new PipeOptions(chunkBytes, chunksAhead, maxTensorBytes);
  }

  public PipeOptions withMaxTensorBytes(long maxTensorBytes) {
    return new PipeOptions(chunkBytes, chunksAhead, maxTensorBytes);
  }

  /// A chunk as a block: one layer, one plane of bytes.
  CacheSpace space() {
    return CacheSpace.of("penstock.pipe.v1", new BlockLayout(1, chunkBytes / ROW_BYTES, TokenOrder.NHD,
        List.of(new Plane(Plane.Kind.LATENT, ElementType.INT8, 1, ROW_BYTES))));
  }

  /// Slots of the sending end: those on their way, one being filled, one ahead.
  int sendingSlots() {
    return chunksAhead + 4;
  }

  /// Slots of the receiving end.
  int receivingSlots() {
    return (int) (2 * PipeChunk.count(maxTensorBytes, chunkBytes)) + 2 * chunksAhead + 2;
  }

  long budgetBytes() {
    return (long) chunksAhead * chunkBytes;
  }
}
