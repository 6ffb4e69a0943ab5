package io.penstock.block;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.check.Checks;
import io.penstock.check.Checksum;
import java.lang.foreign.MemorySegment;

/// A strided part of a block in logical coordinates: of each granule of a run, some heads × some tokens. It means the
/// same bytes in every layout, so two nodes name by it what one has and the other wants.
///
/// The bytes of a view are *packed* when they lie together in one order: granule by granule (layer, then plane), in
/// each `[token][head][width]`. So packed bytes have the layout [#packed], in the order NHD.
///
/// A view of some heads needs planes of equal heads. If planes differ in heads, as an indexer beside keys, a view has
/// all heads of each.
///
/// @param granules whole granules
/// @param firstHead first head in each granule
/// @param heads number of heads; [BlockLayout#heads] for all
/// @param firstToken first token in each granule
/// @param tokens number of tokens
public record BlockView(GranuleRange granules, int firstHead, int heads, int firstToken, int tokens) {
  public BlockView {
    if (!requireNonNull(granules, "granules").isWhole()) {
      throw new IllegalArgumentException("granules must be whole (was " + granules + ")");
    }
    requireRange("head", firstHead, heads);
    requireRange("token", firstToken, tokens);
  }

  private static void requireRange(String name, int first, int count) {
    Checks.notNegative("first " + name, first);
    Checks.positive(name + "s", count);
    if (first + count < 0) {
      throw new IllegalArgumentException(
          name + "s must end at <= " + Integer.MAX_VALUE + " (was " + first + " + " + count + ")");
    }
  }

  /// All planes of `layers` layers, from `firstLayer` on; inside a block of `layout`.
  ///
  /// @throws IndexOutOfBoundsException naming the bound that is broken
  public static BlockView of(BlockLayout layout, int firstLayer, int layers, int firstHead, int heads, int firstToken,
      int tokens) {
    requireRange("layer", firstLayer, layers);
    if (firstLayer + layers > layout.layers()) { // before they are multiplied
      throw new IndexOutOfBoundsException(
          "layers must end at <= " + layout.layers() + " (was " + firstLayer + " + " + layers + ")");
    }
    GranuleRange granules = GranuleRange.layers(layout, firstLayer, firstLayer + layers);
    BlockView view = new BlockView(granules, firstHead, heads, firstToken, tokens);
    view.requireInside(layout);
    return view;
  }

  /// The whole block.
  public static BlockView all(BlockLayout layout) {
    return new BlockView(GranuleRange.all(layout), 0, layout.heads(), 0, layout.tokens());
  }

  /// Throws unless this view lies inside a block of `layout`. All other methods mean something only then.
  ///
  /// @throws IndexOutOfBoundsException naming the bound that is broken
  public void requireInside(BlockLayout layout) {
    granules.requireInside(layout);
    if (firstHead + heads > layout.heads()) {
      throw new IndexOutOfBoundsException(
          "heads must end at <= " + layout.heads() + " (was " + firstHead + " + " + heads + ")");
    }
    if (heads < layout.heads() && !layout.hasEqualHeads()) {
      throw new IndexOutOfBoundsException(
          "heads must be all, as planes differ in heads (was " + firstHead + " + " + heads + ")");
    }
    if (firstToken + tokens > layout.tokens()) {
      throw new IndexOutOfBoundsException(
          "tokens must end at <= " + layout.tokens() + " (was " + firstToken + " + " + tokens + ")");
    }
  }

  /// First layer with a granule of this view.
  public int firstLayer(BlockLayout layout) {
    return granules.first() / layout.planes().size();
  }

  /// Layers with a granule of this view.
  public int layers(BlockLayout layout) {
    return Math.ceilDiv(granules.end(), layout.planes().size()) - firstLayer(layout);
  }

  /// Packed bytes of a token of a granule.
  public int tokenBytes(BlockLayout layout, int granule) {
    return headsOf(layout, granule) * elementBytes(layout, granule);
  }

  /// Packed bytes of a granule.
  public int granuleBytes(BlockLayout layout, int granule) {
    return tokens * tokenBytes(layout, granule);
  }

  /// Packed bytes of this view in one block.
  public int bytes(BlockLayout layout) {
    int bytes = 0;
    for (int granule = granules.first(); granule < granules.end(); granule++) {
      bytes += granuleBytes(layout, granule);
    }
    return bytes;
  }

  /// The layout of the packed bytes of this view, which has whole layers: a block of its own, in the order NHD.
  public BlockLayout packed(BlockLayout layout) {
    return new BlockLayout(layers(layout), tokens, TokenOrder.NHD, layout.planes().stream()
        .map(plane -> new Plane(plane.kind(), plane.type(), Math.min(heads, plane.heads()), plane.width())).toList());
  }

  /// The part of this view that is `range` of its packed bytes: some granules, or some tokens of one.
  public BlockView part(GranuleRange range) {
    GranuleRange moved = GranuleRange.whole(granules.first() + range.first(), range.count());
    return range.isWhole()
        ? new BlockView(moved, firstHead, heads, firstToken, tokens)
        : new BlockView(moved, firstHead, heads, firstToken + range.firstRow(), range.rows());
  }

  /// True if every byte of `part` belongs to this view.
  public boolean contains(BlockView part) {
    return granules.contains(part.granules) && contain(firstHead, heads, part.firstHead, part.heads)
        && contain(firstToken, tokens, part.firstToken, part.tokens);
  }

  private static boolean contain(int first, int count, int partFirst, int partCount) {
    return partFirst >= first && partFirst + partCount <= first + count;
  }

  /// True if a byte belongs to both.
  public boolean overlaps(BlockView other) {
    return meet(granules.first(), granules.count(), other.granules.first(), other.granules.count())
        && meet(firstHead, heads, other.firstHead, other.heads)
        && meet(firstToken, tokens, other.firstToken, other.tokens);
  }

  private static boolean meet(int first, int count, int otherFirst, int otherCount) {
    return first < otherFirst + otherCount && otherFirst < first + count;
  }

  /// Copies this view out of a block.
  ///
  /// @param from the granules of the view, as they lie in a block of `layout`
  /// @param to the packed bytes
  public void gather(BlockLayout layout, MemorySegment from, MemorySegment to) {
    int start = granules.offset(layout);
    long packed = 0;
    for (int granule = granules.first(); granule < granules.end(); granule++) {
      Strides strides = strides(layout, granule);
      strides.gather(from, layout.granuleOffset(granule) - start, to, packed, firstToken, tokens);
      packed += granuleBytes(layout, granule);
    }
  }

  /// CRC32C of the packed bytes of each granule.
  public int[] checksums(BlockLayout layout, MemorySegment packed) {
    int[] sums = new int[granules.count()];
    long offset = 0;
    for (int i = 0; i < sums.length; i++) {
      int bytes = granuleBytes(layout, granules.first() + i);
      sums[i] = Checksum.of(packed.asSlice(offset, bytes));
      offset += bytes;
    }
    return sums;
  }

  /// Copies packed bytes of some tokens of a granule to their places in a block.
  ///
  /// @param from the packed bytes of these tokens
  /// @param first first token, in the block
  /// @param count number of tokens
  /// @param to the granule, as it lies in a block of `layout`
  void scatter(BlockLayout layout, int granule, MemorySegment from, int first, int count, MemorySegment to) {
    strides(layout, granule).scatter(from, 0, to, 0, first, count);
  }

  private Strides strides(BlockLayout layout, int granule) {
    Plane plane = plane(layout, granule);
    int element = elementBytes(layout, granule);
    boolean tokensFirst = layout.order() == TokenOrder.NHD;
    return new Strides(firstHead, headsOf(layout, granule), element,
        tokensFirst ? (long) plane.heads() * element : element,
        tokensFirst ? element : (long) layout.tokens() * element);
  }

  private int headsOf(BlockLayout layout, int granule) {
    return Math.min(heads, plane(layout, granule).heads());
  }

  private static int elementBytes(BlockLayout layout, int granule) {
    Plane plane = plane(layout, granule);
    return plane.width() * plane.type().bytes();
  }

  private static Plane plane(BlockLayout layout, int granule) {
    return layout.planes().get(granule % layout.planes().size());
  }

  /// Places of the elements of a granule; an element is one head of one token.
  ///
  /// @param token distance from one token to the next in the block
  /// @param head distance from one head to the next in the block
  private record Strides(int firstHead, int heads, int element, long token, long head) {
    private interface Copy {
      void run(long inBlock, long packed, long bytes);
    }

    void gather(MemorySegment block, long at, MemorySegment to, long packed, int first, int count) {
      each(at, packed, first, count, (from, into, bytes) -> MemorySegment.copy(block, from, to, into, bytes));
    }

    void scatter(MemorySegment from, long packed, MemorySegment block, long at, int first, int count) {
      each(at, packed, first, count, (into, start, bytes) -> MemorySegment.copy(from, start, block, into, bytes));
    }

    /// The longest runs that lie together both in the block and packed.
    private void each(long at, long packed, int first, int count, Copy copy) {
      long start = at + first * token + firstHead * head;
      long row = (long) heads * element;
      if (token == row && (head == element || heads == 1)) {
        copy.run(start, packed, count * row);
      } else if (head == element || heads == 1) {
        for (int t = 0; t < count; t++) {
          copy.run(start + t * token, packed + t * row, row);
        }
      } else {
        for (int t = 0; t < count; t++) {
          for (int h = 0; h < heads; h++) {
            copy.run(start + t * token + h * head, packed + t * row + (long) h * element, element);
          }
        }
      }
    }
  }
}
