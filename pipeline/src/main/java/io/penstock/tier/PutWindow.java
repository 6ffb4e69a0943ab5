package io.penstock.tier;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.DraftWindow;
import java.util.List;

/// A window for which a tier has room now.
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

  /// The window whose wanted keys are those of `drafts`.
  static PutWindow of(DraftWindow drafts, int maxSliceBytes) {
    return new PutWindow(drafts.number(), List.copyOf(drafts.byPosition().keySet()),
        drafts.drafts().stream().map(BlockDraft::key).toList(), maxSliceBytes);
  }
}
