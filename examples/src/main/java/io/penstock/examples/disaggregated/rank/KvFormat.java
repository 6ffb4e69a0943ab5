package io.penstock.examples.disaggregated.rank;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import io.penstock.examples.disaggregated.model.TileScorer;

/// Form of the cache of an instance.
///
/// @param blockTokens tokens a block; a multiple of the tokens of a tile
/// @param order of tokens and heads inside a plane
/// @param type of the elements: FP32, FP16 or BF16
public record KvFormat(int blockTokens, TokenOrder order, ElementType type) {
  public KvFormat {
    requireNonNull(order, "order");
    if (blockTokens <= 0 || blockTokens % TileScorer.TILE_TOKENS != 0) {
      throw new IllegalArgumentException(
          "blockTokens must be a multiple of " + TileScorer.TILE_TOKENS + " (was " + blockTokens + ")");
    }
    if (type != ElementType.FP32 && type != ElementType.FP16 && type != ElementType.BF16) {
      throw new IllegalArgumentException("type must be FP32, FP16 or BF16 (was " + type + ")");
    }
  }

  @Override
  public String toString() {
    return "blocks of " + blockTokens + " tokens, " + order + ", " + type;
  }

  public KvFormat withType(ElementType newType) {
    return new KvFormat(blockTokens, order, newType);
  }

  public static KvFormat defaults() {
    return new KvFormat(16, TokenOrder.NHD, ElementType.FP32);
  }
}
