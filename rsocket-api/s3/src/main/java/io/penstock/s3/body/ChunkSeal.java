package io.penstock.s3.body;

import java.util.Map;

/// Signatures of the chunks of a body, one upon the other.
public interface ChunkSeal {
  /// The signature of the next chunk.
  ///
  /// @param hash SHA-256 of its bytes
  String chunk(byte[] hash);

  /// The signature of the trailer.
  ///
  /// @param hash SHA-256 of its lines
  String trailer(byte[] hash);
}
