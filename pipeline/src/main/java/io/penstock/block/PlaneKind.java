package io.penstock.block;

/// What one plane of a layer holds.
public enum PlaneKind {
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
  SCALES
}
