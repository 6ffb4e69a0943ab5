package io.penstock.node.shape;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.check.Checks;

/// A block that is stated by its size instead of a model's dimensions: a key and a value plane in each layer, with one
/// head of BF16 elements, as wide as the size needs.
///
/// @param blockBytes bytes of a block, all layers together
/// @param layers number of layers
/// @param tokens tokens of a block
public record BlockShape(int blockBytes, int layers, int tokens) {
  /// Bytes of a block when nothing else is stated.
  public static final int DEFAULT_BLOCK_BYTES = 64 << 10;
  /// Layers when nothing else is stated.
  public static final int DEFAULT_LAYERS = 8;
  /// Tokens of a block when nothing else is stated.
  public static final int DEFAULT_TOKENS = 16;

  private static final ElementType TYPE = ElementType.BF16;
  private static final int PLANES = 2;
  private static final int MAX_BLOCK_BYTES = 1 << 30;

  public BlockShape {
    Checks.positive("layers", layers);
    Checks.positive("block.tokens", tokens);
    long unit = unit(layers, tokens);
    if (blockBytes <= 0 || blockBytes > MAX_BLOCK_BYTES || blockBytes % unit != 0) {
      throw new IllegalArgumentException(
          ("block.bytes must be a multiple of %d B, which is layers %d x block.tokens %d x %d planes x %d B, and at"
              + " most 1 GiB "
              + "(was %d)")
              .formatted(unit, layers, tokens, PLANES, TYPE.bytes(), blockBytes));
    }
  }

  /// Bytes of one element a token in every plane of every layer; a block is a multiple of it.
  private static long unit(int layers, int tokens) {
    return (long) layers * tokens * PLANES * TYPE.bytes();
  }

  /// 64 KiB over 8 layers, 16 tokens.
  public static BlockShape defaults() {
    return new BlockShape(DEFAULT_BLOCK_BYTES, DEFAULT_LAYERS, DEFAULT_TOKENS);
  }

  /// A block of this size with the most tokens, at most 16, that leave no remainder.
  public static BlockShape of(long blockBytes, int layers) {
    Checks.positive("layers", layers);
    long unit = (long) layers * PLANES * TYPE.bytes();
    int tokens = DEFAULT_TOKENS;
    while (tokens > 1 && blockBytes % (unit * tokens) != 0) {
      tokens /= 2;
    }
    return new BlockShape((int) Math.min(blockBytes, Integer.MAX_VALUE), layers, tokens);
  }

  public BlockLayout layout() {
    int headDim = blockBytes / (layers * tokens * PLANES * TYPE.bytes());
    return BlockLayout.attention(layers, tokens, 1, headDim, TYPE);
  }

  /// The space of `model` whose blocks have this shape.
  public CacheSpace space(String model) {
    return CacheSpace.of(model, layout());
  }
}
