package io.penstock.block;

import io.penstock.check.Checks;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The unit that travels: one range of granules of several blocks of one window, and the positions of these blocks in
/// the request.
///
/// Owns its spans; closing the slice closes them all.
public final class LayerSlice extends Owned {
  private final Position place;
  private final GranuleRange range;
  private final @Nullable BlockView view;
  private final int[] positions;
  private final List<LayerSpan> spans;

  /// @param place its window, and the number of slices of that window that follow
  /// @param range the granules, equal in every block
  /// @param positions for each span the index of its key in the request
  /// @param spans one a block; the slice owns them, unless this throws
  public LayerSlice(Position place, GranuleRange range, int[] positions, List<LayerSpan> spans) {
    this(place, range, null, positions, spans);
  }

  /// A slice of a view, whose bytes are packed where they travel.
  ///
  /// @param spans one a block, of the granules of `view`
  public LayerSlice(Position place, BlockView view, int[] positions, List<LayerSpan> spans) {
    this(place, view.granules(), view, positions, spans);
  }

  private LayerSlice(Position place, GranuleRange range, @Nullable BlockView view, int[] positions,
      List<LayerSpan> spans) {
    if (spans.isEmpty() || spans.size() != positions.length) {
      throw new IllegalArgumentException(
          "spans must be > 0 and as many as positions (was " + spans.size() + ", " + positions.length + ")");
    }
    BlockLayout layout = spans.getFirst().layout();
    for (LayerSpan span : spans) {
      if (!span.range().equals(range)) {
        throw new IllegalArgumentException("spans must all be of " + range + " (was " + span + ")");
      }
      requireSame(layout, span.layout());
    }
    this.place = place;
    this.range = range;
    this.view = view;
    this.positions = positions.clone();
    this.spans = List.copyOf(spans);
  }

  private static void requireSame(BlockLayout wanted, BlockLayout layout) {
    if (!wanted.equals(layout)) {
      throw new IllegalArgumentException("layout of the spans must be " + wanted + " (was " + layout + ")");
    }
  }

  /// Checks where its bytes go: spans of another layout would be copied in part, or over the bytes of others.
  ///
  /// @throws IllegalArgumentException if its blocks do not have `layout`
  public void requireLayout(BlockLayout layout) {
    requireSame(layout, spans.getFirst().layout());
  }

  /// Its window, and the number of slices of that window that follow.
  public Position place() {
    return place;
  }

  /// The granules, equal in every block.
  public GranuleRange range() {
    return range;
  }

  /// The part of the granules that it carries, equal in every block; null for all of them.
  public @Nullable BlockView view() {
    return view;
  }

  /// @throws IllegalStateException if this is a slice of whole granules
  public BlockView requireView() {
    if (view == null) {
      throw new IllegalStateException("slice must be of a view (was " + this + ")");
    }
    return view;
  }

  /// Index of the `i`-th span's key in the request.
  public int position(int i) {
    return positions[i];
  }

  /// Spans, one a block, in the order of [#position]. The slice owns them.
  public List<LayerSpan> spans() {
    return spans;
  }

  /// These bytes as a slice of another request, of which this request is a part, or the other way round. The new slice
  /// takes the spans over, and this handle ends.
  ///
  /// @param newPlace in the stream of the other request
  /// @param newPositions for each span the index of its key in the other request
  /// @throws IllegalStateException if this handle was closed
  public LayerSlice renamed(Position newPlace, int[] newPositions) {
    LayerSlice renamed = new LayerSlice(newPlace, range, view, newPositions, spans);
    if (!markClosed()) {
      throw new IllegalStateException("slice must be open (was closed, " + this + ")");
    }
    return renamed;
  }

  /// Copies the packed bytes that the view has of the `i`-th block.
  ///
  /// @param to their bytes
  /// @param boundary that the bytes cross, named in the error
  /// @return CRC32C of the packed bytes, one a granule
  /// @throws BlockCorruptException if a granule of the block differs from its checksum
  /// @throws IllegalStateException if this is a slice of whole granules
  public int[] pack(int i, MemorySegment to, String boundary) {
    BlockView packed = requireView();
    LayerSpan span = spans.get(i);
    span.verify(boundary);
    span.read(memory -> {
      packed.gather(span.layout(), memory, to);
      return to;
    });
    return packed.checksums(span.layout(), to);
  }

  /// Payload bytes over all spans.
  public int bytes() {
    LayerSpan first = spans.getFirst();
    return Math.multiplyExact(spans.size(), view == null ? first.bytes() : view.bytes(first.layout()));
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
  /// @param remaining slices of this window that follow this one
  public record Position(int window, int remaining) {
    public Position {
      Checks.notNegative("window", window);
      Checks.notNegative("remaining", remaining);
    }
  }
}
