package io.penstock.node.replay;

import io.penstock.block.CacheSpace;
import io.penstock.node.option.TraceLayout;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Sizes;
import org.jspecify.annotations.Nullable;

/// Payload that a replay moves for each block of the model: the block itself, or a smaller one that stands for it. A
/// node decides by keys and numbers of blocks, so hits do not depend on it.
final class Payload {
  private static final String STANDS_FOR = "replay-payload";
  /// A payload has this many layers, unless it is a block of the model.
  private static final int LAYERS = BlockShape.DEFAULT_LAYERS;
  /// An element of two bytes in a key and a value plane of each layer.
  private static final int LEAST_BYTES = 4 * LAYERS;

  private Payload() {}

  /// Space of the payloads.
  ///
  /// @param scale bytes of a block of the model for each byte of payload. 1 is the block itself; null is a payload of
  ///     64 KiB, or the block itself where it is not larger or an option states its size
  static CacheSpace of(TraceLayout layout, ModelSize size, @Nullable Long scale) {
    if (scale == null) {
      return isSmall(layout, size) ? whole(layout, size) : BlockShape.defaults().space(STANDS_FOR);
    }
    if (scale < 1 || scale > size.blockBytes() / LEAST_BYTES) {
      throw outOfRange(size.blockBytes(), scale);
    }
    return scale == 1 ? whole(layout, size) : standIn(size.blockBytes() / scale);
  }

  /// Space of the payloads of a KV group.
  ///
  /// @param whole space of the group
  /// @param scale as [#of] takes it
  static CacheSpace ofGroup(CacheSpace whole, @Nullable Long scale) {
    int blockBytes = whole.layout().blockBytes();
    if (scale == null ? blockBytes <= BlockShape.DEFAULT_BLOCK_BYTES : scale == 1) {
      return whole;
    }
    if (scale != null && (scale < 1 || scale > blockBytes / LEAST_BYTES)) {
      throw outOfRange(blockBytes, scale);
    }
    CacheSpace payload = scale == null ? BlockShape.defaults().space(STANDS_FOR) : standIn(blockBytes / scale);
    return new CacheSpace(STANDS_FOR, payload.layout(), whole.group().number(), "");
  }

  private static IllegalArgumentException outOfRange(long blockBytes, long scale) {
    return new IllegalArgumentException("--scale must be in [1, %d], for a block of %s (was %d)"
        .formatted(blockBytes / LEAST_BYTES, Sizes.exact(blockBytes), scale));
  }

  private static boolean isSmall(TraceLayout layout, ModelSize size) {
    return layout.isSized() || size.blockBytes() <= BlockShape.DEFAULT_BLOCK_BYTES;
  }

  private static CacheSpace whole(TraceLayout layout, ModelSize size) {
    return layout.isSized() ? layout.space() : layout.space(size.blockTokens());
  }

  /// Space of blocks of about `bytes`: a multiple of what the layers need.
  private static CacheSpace standIn(long bytes) {
    return BlockShape.of(bytes / LEAST_BYTES * LEAST_BYTES, LAYERS).space(STANDS_FOR);
  }
}
