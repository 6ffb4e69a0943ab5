package io.penstock.block;

import io.penstock.check.Checks;
import java.util.List;

/// The unit that travels: one range of granules of several blocks of one window, and the positions of these blocks in
/// the request.
///
/// Owns its spans; closing the slice closes them all.
public final class LayerSlice extends Owned {
  private final Position place;
  private final GranuleRange range;
  private final int[] positions;
  private final List<LayerSpan> spans;

  /// @param place its window, and the number of slices of that window that follow
  /// @param range the granules, the same in every block
  /// @param positions for each span the index of its key in the request
  /// @param spans one a block; the slice owns them, unless this throws
  public LayerSlice(Position place, GranuleRange range, int[] positions, List<LayerSpan> spans) {
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

  /// Its window, and the number of slices of that window that follow.
  public Position place() {
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

  /// One a block, in the order of [#position]. The slice owns them.
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

  /// The place of a slice in its stream.
  ///
  /// @param window number of its window, from 0
  /// @param remaining slices of the same window that follow this one
  public record Position(int window, int remaining) {
    public Position {
      Checks.notNegative("window", window);
      Checks.notNegative("remaining", remaining);
    }
  }
}
