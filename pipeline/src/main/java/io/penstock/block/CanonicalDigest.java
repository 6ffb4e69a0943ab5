package io.penstock.block;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/// The first 16 bytes of SHA-256 over specified bytes. Integers are unsigned 32- or 64-bit little-endian; text is its
/// UTF-8 length, then its UTF-8 bytes.
final class CanonicalDigest {
  private final MessageDigest sha256 = newSha256();
  private final ByteBuffer scratch = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);

  /// Starts with a domain tag: its ASCII bytes, without a length.
  CanonicalDigest(String domain) {
    sha256.update(domain.getBytes(StandardCharsets.US_ASCII));
  }

  CanonicalDigest int32(int value) {
    scratch.clear().putInt(value);
    sha256.update(scratch.flip());
    return this;
  }

  CanonicalDigest int64(long value) {
    scratch.clear().putLong(value);
    sha256.update(scratch.flip());
    return this;
  }

  CanonicalDigest text(String value) {
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    int32(utf8.length);
    sha256.update(utf8);
    return this;
  }

  CanonicalDigest hash(BlockHash value) {
    ByteBuffer bytes = ByteBuffer.allocate(BlockHash.BYTES);
    value.write(bytes);
    sha256.update(bytes.flip());
    return this;
  }

  /// The first 16 bytes of the digest.
  ByteBuffer first16() {
    return ByteBuffer.wrap(sha256.digest(), 0, 16);
  }

  private static MessageDigest newSha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
