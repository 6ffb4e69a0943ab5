package io.penstock.wire.protocol;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockLayout;

/// Limits of the server, sent in `hello`; a request may ask for less, never for more.
///
/// @param maxSliceBytes maximum payload bytes of a slice, header not counted; 4 KiB to 8 MiB
/// @param windowBlocks maximum number of blocks of a window
/// @param maxKeys maximum number of keys of a request
public record Limits(int maxSliceBytes, int windowBlocks, int maxKeys) {
  /// Largest slice: a frame ends at 16 MiB, and two of them should fit a receive window.
  public static final int LARGEST_SLICE_BYTES = 8 << 20;

  /// Bytes of the fields of a request other than its keys, and of its metadata.
  private static final int OTHER_FIELDS = 4096;

  /// Maximum number of keys: in JSON, too, they fit a frame.
  public static final int LARGEST_KEYS = 1 << 19;

  public Limits {
    requireWithin("maxSliceBytes", maxSliceBytes, 4096, LARGEST_SLICE_BYTES);
    requireWithin("windowBlocks", windowBlocks, 1, 65_536);
    requireWithin("maxKeys", maxKeys, 1, LARGEST_KEYS);
  }

  /// Slices of 512 KiB, windows of 64 blocks, 65,536 keys a request.
  public static Limits defaults() {
    return new Limits(512 << 10, 64, 65_536);
  }

  public Limits withMaxSliceBytes(int maxSliceBytes) {
    return new Limits(maxSliceBytes, windowBlocks, maxKeys);
  }

  public Limits withWindowBlocks(int windowBlocks) {
    return new Limits(maxSliceBytes, windowBlocks, maxKeys);
  }

  /// A slice that can hold at least one row of every plane.
  ///
  /// @throws IllegalArgumentException naming the row that does not fit
  public Limits requireFits(BlockLayout layout) {
    if (layout.layers() > 0xFFFF || layout.planes().size() > 0xFFFF) {
      throw new IllegalArgumentException(
          "layers and planes must be <= 65535, to be named in a slice (was " + layout.layers() + ", "
              + layout.planes().size() + ")");
    }
    for (int granule = 0; granule < layout.planes().size(); granule++) {
      if (layout.rowBytes(granule) > maxSliceBytes) {
        throw new IllegalArgumentException(
            "maxSliceBytes must be >= one row of plane " + layout.planes().get(granule).kind() + ", "
                + layout.rowBytes(granule) + " bytes (was " + maxSliceBytes + ")");
      }
    }
    return this;
  }

  /// Bytes of the longest message that a client sends: a request of `maxKeys` in JSON.
  public int longestRequest() {
    return OTHER_FIELDS + 4 * Math.ceilDiv(maxKeys * BlockHash.BYTES, 3);
  }

  private static void requireWithin(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(name + " must be in [" + least + ", " + most + "] (was " + value + ")");
    }
  }
}
