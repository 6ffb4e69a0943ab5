package io.penstock.wire.slice;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.tier.slice.DraftWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// One landed slice of a `get`.
///
/// @param window whose drafts hold its bytes; they are complete with the last slice
/// @param whole positions whose granules are whole with this slice: all of them, unless it carries rows of a granule
public record LandedSlice(SliceHeader header, DraftWindow window, int[] whole) {
  /// Computes the positions that are whole now.
  public static LandedSlice now(SliceHeader header, DraftWindow window) {
    int[] positions = header.positions();
    return new LandedSlice(header, window, header.range().isWhole()
        ? positions
        : IntStream.of(positions).filter(position -> draft(window, position).unverified(granules(header)).isEmpty())
            .toArray());
  }

  private static BlockDraft draft(DraftWindow window, int position) {
    return requireNonNull(window.draft(position), "a slice landed there");
  }

  private static GranuleRange granules(SliceHeader header) {
    return GranuleRange.whole(header.range().first(), header.range().count());
  }

  /// The granules that it went into, whole.
  public GranuleRange granules() {
    return granules(header);
  }

  /// The draft at one of its positions.
  public BlockDraft draft(int position) {
    return draft(window, position);
  }

  /// The drafts it went into, in the order of its positions.
  public List<BlockDraft> drafts() {
    List<BlockDraft> drafts = new ArrayList<>(header.positions().length);
    for (int position : header.positions()) {
      drafts.add(draft(position));
    }
    return drafts;
  }
}
