package io.penstock.node.shape;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.check.Checks;

/// Content of a layer of a model for each token.
public sealed interface KvShape {
  /// Content of a layer when neither a model nor dimensions are stated.
  Heads DEFAULT = new Heads(1, 128);

  /// Blocks of this shape.
  BlockLayout layout(int layers, int tokens, ElementType type);

  /// Keys and values of multi-head or grouped-query attention.
  record Heads(int kvHeads, int headDim) implements KvShape {
    public Heads {
      Checks.positive("kv.heads", kvHeads);
      Checks.positive("head.dim", headDim);
    }

    @Override
    public BlockLayout layout(int layers, int tokens, ElementType type) {
      return BlockLayout.attention(layers, tokens, kvHeads, headDim, type);
    }
  }

  /// The latent and the rotary part of multi-head latent attention (MLA).
  record Latent(int rank, int ropeDim) implements KvShape {
    public Latent {
      Checks.positive("latent.rank", rank);
      Checks.positive("rope.dim", ropeDim);
    }

    @Override
    public BlockLayout layout(int layers, int tokens, ElementType type) {
      return BlockLayout.latent(layers, tokens, rank, ropeDim, type);
    }
  }
}
