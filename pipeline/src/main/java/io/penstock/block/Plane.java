package io.penstock.block;

import static java.util.Objects.requireNonNull;

/// One tensor of a layer, shape `[tokens][heads][width]` (NHD) or `[heads][tokens][width]` (HND).
///
/// @param kind what the plane holds
/// @param type element type
/// @param heads number of KV heads (1 for a latent)
/// @param width elements a head and token, for example the head dimension
public record Plane(PlaneKind kind, ElementType type, int heads, int width) {
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
}
