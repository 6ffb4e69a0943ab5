package io.penstock.node.session;

import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// SHA-256 of the bytes of blocks.
final class BlockDigest {
  private final MessageDigest digest;

  BlockDigest() {
    try {
      this.digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /// The digest as hex digits.
  String of(MemorySegment block) {
    digest.update(block.asByteBuffer());
    return HexFormat.of().formatHex(digest.digest());
  }
}
