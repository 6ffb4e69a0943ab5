package io.penstock.examples.stream;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SpaceId;

/// The sizes of the stream: small ones, so that a rate of 1 MB/s is smooth.
final class Shape {
  /// 8 layers of keys and values for 16 tokens, 2 heads × 64 elements of BF16.
  static final BlockLayout LAYOUT = BlockLayout.attention(8, 16, 2, 64, ElementType.BF16);
  static final CacheSpace SPACE = CacheSpace.of("example-stream", LAYOUT);
  static final SpaceId SPACE_ID = SPACE.id();
  static final int BLOCK_BYTES = 64 << 10;
  static final int SLICE_BYTES = 64 << 10;
  static final int WINDOW_BLOCKS = 4;
  /// Slices that a reader takes ahead of its pace.
  static final int READ_AHEAD_SLICES = 8;
  /// Slots of a reader: those of the slices read ahead, and two windows on their way.
  static final int READER_SLOTS = 24;
  /// Maximum bytes of a stream: one request may have so many keys.
  static final long MOST_STREAM_BYTES = 65_536L * BLOCK_BYTES;

  private Shape() {}
}
