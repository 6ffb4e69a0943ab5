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
  }

  /// Bytes of this plane for `tokens` tokens of one layer.
  public int bytes(int tokens) {
    return Math.multiplyExact(tokens, tokenBytes());
  }

  /// Bytes of one token over all heads.
  public int tokenBytes() {
    return Math.multiplyExact(Math.multiplyExact(heads, width), type.bytes());
  }
}
