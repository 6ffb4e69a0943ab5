package io.penstock.block;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;

/// One tensor of a layer, shape `[tokens][heads][width]` (NHD) or `[heads][tokens][width]` (HND).
///
/// @param kind what the plane holds
/// @param type element type
/// @param heads number of KV heads (1 for a latent)
/// @param width elements a head and token, for example the head dimension
public record Plane(Kind kind, ElementType type, int heads, int width) {
  public Plane {
    requireNonNull(kind, "kind");
    requireNonNull(type, "type");
    Checks.positive("heads", heads);
    Checks.positive("width", width);
    if ((long) heads * width > BlockLayout.MAX_BLOCK_BYTES / type.bytes()) {
      throw new IllegalArgumentException(
          "heads × width must be <= 1 GiB of " + type + " (was " + heads + " × " + width + ")");
    }
  }

  /// Bytes of this plane for `tokens` tokens of one layer.
  ///
  /// @throws IllegalArgumentException if they are more than a block can have
  public int bytes(int tokens) {
    long bytes = (long) Checks.positive("tokens", tokens) * tokenBytes();
    if (bytes > BlockLayout.MAX_BLOCK_BYTES) {
      throw new IllegalArgumentException("bytes of plane " + kind + " must be <= 1 GiB (was " + bytes + ")");
    }
    return (int) bytes;
  }

  /// Bytes of one token over all heads.
  public int tokenBytes() {
    return heads * width * type.bytes();
  }

  /// Content of a plane of a layer.
  public enum Kind {
    /// Keys of multi-head or grouped-query attention.
    KEY,
    /// Values of multi-head or grouped-query attention.
    VALUE,
    /// The compressed latent of multi-head latent attention (MLA).
    LATENT,
    /// The rotary part of an MLA key.
    ROPE,
    /// Keys of a sparse-attention indexer.
    INDEXER,
    /// Quantisation scales of another plane.
    SCALES,
    /// The state of a recurrent layer, such as Mamba or gated delta net.
    STATE,
    /// The last inputs of the convolution before a recurrent layer.
    CONVOLUTION
  }

  /// The type of one tensor element and its width. Values are little-endian in memory and on the wire.
  ///
  /// Names follow safetensors and vLLM: `BF16` is `bfloat16`, `FP8_E4M3` is `fp8_e4m3`.
  public enum ElementType {
    BF16(2),
    FP16(2),
    FP32(4),
    FP8_E4M3(1),
    FP8_E5M2(1),
    INT8(1);

    private final int bytes;

    ElementType(int bytes) {
      this.bytes = bytes;
    }

    /// Width of one element in bytes.
    public int bytes() {
      return bytes;
    }
  }
}
