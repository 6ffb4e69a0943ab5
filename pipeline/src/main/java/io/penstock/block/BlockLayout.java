package io.penstock.block;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Plane.ElementType;
import io.penstock.check.Checks;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// The shape of one block in memory: for each layer its planes, one after the other, little-endian.
///
/// | | |
/// |---|---|
/// | order | `[layer][plane][tokens × heads in [TokenOrder]][width]` |
/// | granule | one plane of one layer of one block: the unit of verification, numbered `layer × planes + plane` |
/// | row | the outer axis inside a plane: a token (NHD) or a head (HND); the smallest unit that a slice may cut at |
///
/// @param layers number of layers
/// @param tokens tokens a block
/// @param order axis order inside every plane
/// @param planes the planes of a layer, in memory order
public record BlockLayout(int layers, int tokens, TokenOrder order, List<Plane> planes) {
  /// Maximum bytes of a block: a slot is one buffer, and sizes and offsets are of type `int`.
  public static final int MAX_BLOCK_BYTES = 1 << 30;

  public BlockLayout {
    Checks.positive("layers", layers);
    Checks.positive("tokens", tokens);
    requireNonNull(order, "order");
    planes = List.copyOf(planes);
    if (planes.isEmpty()) {
      throw new IllegalArgumentException("planes must not be empty");
    }
    // A List is too short to overflow it
    long layerBytes = planes.stream().mapToLong(plane -> plane.bytes(tokens)).sum();
    if (layerBytes > MAX_BLOCK_BYTES / layers) {
      throw new IllegalArgumentException(
          "blockBytes must be <= 1 GiB (was " + layers + " layers of " + layerBytes + " bytes)");
    }
  }

  /// Multi-head or grouped-query attention: a key and a value plane.
  public static BlockLayout attention(int layers, int tokens, int kvHeads, int headDim, ElementType type) {
    return new BlockLayout(layers, tokens, TokenOrder.NHD, List.of(
        new Plane(Plane.Kind.KEY, type, kvHeads, headDim), new Plane(Plane.Kind.VALUE, type, kvHeads, headDim)));
  }

  /// Multi-head latent attention: a latent and a rotary plane, one head each (DeepSeek-V3: rank 512, rope 64).
  public static BlockLayout latent(int layers, int tokens, int latentRank, int ropeDim, ElementType type) {
    return new BlockLayout(layers, tokens, TokenOrder.NHD, List.of(
        new Plane(Plane.Kind.LATENT, type, 1, latentRank), new Plane(Plane.Kind.ROPE, type, 1, ropeDim)));
  }

  /// This layout with its planes in another axis order.
  public BlockLayout withOrder(TokenOrder newOrder) {
    return new BlockLayout(layers, tokens, newOrder, planes);
  }

  /// Bytes of one plane of one layer, which are the bytes of each of its granules.
  public int planeBytes(int plane) {
    return planes.get(plane).bytes(tokens);
  }

  /// Bytes of one layer over all planes.
  public int layerBytes() {
    int sum = 0;
    for (int p = 0; p < planes.size(); p++) {
      sum += planeBytes(p);
    }
    return sum;
  }

  /// Bytes of a whole block: all layers, all planes.
  public int blockBytes() {
    return layers * layerBytes();
  }

  /// Heads of the plane with most of them.
  public int heads() {
    int most = 0;
    for (Plane plane : planes) {
      most = Math.max(most, plane.heads());
    }
    return most;
  }

  /// Whether all planes have equal numbers of heads.
  public boolean hasEqualHeads() {
    return planes.stream().allMatch(plane -> plane.heads() == planes.getFirst().heads());
  }

  /// Number of granules in a block.
  public int granules() {
    return layers * planes.size();
  }

  /// Number of the granule of `plane` in `layer`.
  public int granule(int layer, int plane) {
    Checks.within("layer", layer, layers);
    Checks.within("plane", plane, planes.size());
    return layer * planes.size() + plane;
  }

  /// Layer of a granule, the inverse of [#granule].
  public int layerOf(int granule) {
    Checks.within("granule", granule, granules());
    return granule / planes.size();
  }

  /// Plane of a granule, the inverse of [#granule].
  public int planeOf(int granule) {
    Checks.within("granule", granule, granules());
    return granule % planes.size();
  }

  /// Walks over the rows of `range` in memory order.
  ///
  /// @param memory the bytes of `range`, and no others
  /// @throws IllegalArgumentException if `memory` has another length
  public void forEachRow(GranuleRange range, MemorySegment memory, RowVisitor visitor) {
    range.requireInside(this);
    if (memory.byteSize() != range.bytes(this)) {
      throw new IllegalArgumentException(
          "memory must have " + range.bytes(this) + " bytes (was " + memory.byteSize() + ")");
    }
    long at = 0;
    for (int granule = range.first(); granule < range.end(); granule++) {
      int bytes = rowBytes(granule);
      int end = range.isWhole() ? rows(granule) : range.firstRow() + range.rows();
      for (int row = range.firstRow(); row < end; row++) {
        visitor.row(layerOf(granule), planeOf(granule), row, memory.asSlice(at, bytes));
        at += bytes;
      }
    }
  }

  /// Bytes of a granule: one plane of one layer.
  public int granuleBytes(int granule) {
    return planeBytes(granule % planes.size());
  }

  /// Byte offset of a granule inside its block; `granules()` answers the end of the block.
  public int granuleOffset(int granule) {
    int offset = granule / planes.size() * layerBytes();
    for (int p = 0; p < granule % planes.size(); p++) {
      offset += planeBytes(p);
    }
    return offset;
  }

  /// Rows of a granule: its tokens (NHD) or its heads (HND).
  public int rows(int granule) {
    return order == TokenOrder.NHD ? tokens : planes.get(granule % planes.size()).heads();
  }

  /// Bytes of a row of a granule.
  public int rowBytes(int granule) {
    return granuleBytes(granule) / rows(granule);
  }

  /// Receives the rows of a block, one after the other.
  @FunctionalInterface
  public interface RowVisitor {
    /// @param row a token of the block (NHD) or a head (HND)
    /// @param bytes of the row, valid during the call
    void row(int layer, int plane, int row, MemorySegment bytes);
  }

  /// Order of the axes inside one plane, named as vLLM names it.
  public enum TokenOrder {
    /// `[tokens][heads][width]`.
    NHD,
    /// `[heads][tokens][width]`; can be split by head.
    HND
  }
}
