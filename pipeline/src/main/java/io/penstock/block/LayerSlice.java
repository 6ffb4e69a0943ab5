package io.penstock.block;

import java.util.ArrayList;
import java.util.List;

/// What travels: the same range of granules of several blocks of one window, with their places in the request.
///
/// Owns its spans; closing the slice closes them all.
public final class LayerSlice extends Owned {
  private final SlicePosition place;
  private final GranuleRange range;
  private final int[] positions;
  private final List<LayerSpan> spans;

  /// @param place which window of its stream, and how many slices of that window follow
  /// @param range the granules, the same in every block
  /// @param positions for each span the index of its key in the request
  /// @param spans one a block; owned by the slice from here on, unless this throws
  public LayerSlice(SlicePosition place, GranuleRange range, int[] positions, List<LayerSpan> spans) {
    if (spans.isEmpty() || spans.size() != positions.length) {
      throw new IllegalArgumentException(
          "spans must be > 0 and as many as positions (was " + spans.size() + ", " + positions.length + ")");
    }
    for (LayerSpan span : spans) {
      if (!span.range().equals(range)) {
        throw new IllegalArgumentException("spans must all be of " + range + " (was " + span + ")");
      }
    }
    this.place = place;
    this.range = range;
    this.positions = positions.clone();
    this.spans = List.copyOf(spans);
  }

  /// Where the parts of a slice come from: the blocks of a window, or drafts that fill up.
  public interface Spans {
    /// Index of the `i`-th block's key in the request.
    int position(int i);

    /// A share of `range` of the `i`-th block.
    LayerSpan span(int i, GranuleRange range);
  }

  /// The slice that `cut` takes out of a window, whose shares `spans` lends; they are given back if one of them fails.
  public static LayerSlice of(SlicePlan.Cut cut, SlicePosition place, Spans spans) {
    int[] positions = new int[cut.blocks()];
    List<LayerSpan> lent = new ArrayList<>(cut.blocks());
    try {
      for (int i = 0; i < cut.blocks(); i++) {
        positions[i] = spans.position(cut.firstBlock() + i);
        lent.add(spans.span(cut.firstBlock() + i, cut.range()));
      }
      return new LayerSlice(place, cut.range(), positions, lent);
    } catch (RuntimeException e) {
      lent.forEach(LayerSpan::close);
      throw e;
    }
  }

  /// Which window of its stream, and how many slices of that window follow.
  public SlicePosition place() {
    return place;
  }

  /// The granules, the same in every block.
  public GranuleRange range() {
    return range;
  }

  /// Index of the `i`-th span's key in the request.
  public int position(int i) {
    return positions[i];
  }

  /// One a block, in the order of [#position]; the slice goes on owning them.
  public List<LayerSpan> spans() {
    return spans;
  }

  /// Payload bytes over all spans.
  public int bytes() {
    return Math.multiplyExact(spans.size(), spans.getFirst().bytes());
  }

  @Override
  protected void free() {
    spans.forEach(LayerSpan::close);
  }

  @Override
  public String toString() {
    return "slice " + range + " of " + spans.size() + " blocks, " + place;
  }
}
