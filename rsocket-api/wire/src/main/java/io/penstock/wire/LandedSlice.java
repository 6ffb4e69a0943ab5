package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.tier.slice.DraftWindow;
import java.util.ArrayList;
import java.util.List;

/// One slice of a `get` after landing.
///
/// @param window whose drafts it went into; they are complete with the last slice
record LandedSlice(SliceHeader header, DraftWindow window) {
  /// The drafts it went into, in the order of its positions.
  List<BlockDraft> drafts() {
    List<BlockDraft> drafts = new ArrayList<>(header.positions().length);
    for (int position : header.positions()) {
      drafts.add(requireNonNull(window.draft(position), "a slice landed there"));
    }
    return drafts;
  }
}
