package io.penstock.wire;

import io.penstock.block.BlockKey;
import java.util.List;

/// A window for which the server has room now.
///
/// @param index number of the window, from 0
/// @param positions for each wanted key its index in the request
/// @param keys the wanted keys, in order
/// @param maxSliceBytes most payload bytes a slice
public record PutWindow(int index, List<Integer> positions, List<BlockKey> keys, int maxSliceBytes) {
  public PutWindow {
    positions = List.copyOf(positions);
    keys = List.copyOf(keys);
    if (positions.size() != keys.size()) {
      throw new IllegalArgumentException(
          "positions must be as many as keys (was " + positions.size() + ", " + keys.size() + ")");
    }
  }
}
