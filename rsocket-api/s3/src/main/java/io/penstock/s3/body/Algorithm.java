package io.penstock.s3.body;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/// Checksums that clients of S3 send with a body, as `x-amz-checksum-NAME` or `Content-MD5`.
enum Algorithm {
  CRC32(4, () -> ofCrc(new CRC32(), Integer.BYTES)),
  CRC32C(4, () -> ofCrc(new CRC32C(), Integer.BYTES)),
  CRC64NVME(8, () -> ofCrc(new Crc64Nvme(), Long.BYTES)),
  MD5(16, () -> ofDigest("MD5")),
  SHA1(20, () -> ofDigest("SHA-1")),
  SHA256(32, () -> ofDigest("SHA-256"));

  static final String PREFIX = "x-amz-checksum-";

  private final int bytes;
  private final Supplier<Sum> sums;

  Algorithm(int bytes, Supplier<Sum> sums) {
    this.bytes = bytes;
    this.sums = sums;
  }

  /// A sum of bytes so far.
  interface Sum {
    void update(ByteBuffer bytes);

    /// Big-endian; ends this sum.
    byte[] value();
  }

  /// Length of its value.
  int bytes() {
    return bytes;
  }

  Sum sum() {
    return sums.get();
  }

  /// Name of the header that has its value in Base64.
  String header() {
    return PREFIX + name().toLowerCase(Locale.ROOT);
  }

  /// The algorithm whose header is `header`, in lower case.
  static Optional<Algorithm> ofHeader(String header) {
    for (Algorithm each : values()) {
      if (each.header().equals(header)) {
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

  private static Sum ofCrc(Checksum crc, int length) {
    return sum(crc::update, () -> {
      byte[] all = ByteBuffer.allocate(Long.BYTES).putLong(crc.getValue()).array();
      return Arrays.copyOfRange(all, Long.BYTES - length, Long.BYTES);
    });
  }

  private static Sum ofDigest(String name) {
    MessageDigest digest = digest(name);
    return sum(digest::update, digest::digest);
  }

  static MessageDigest digest(String name) {
    try {
      return MessageDigest.getInstance(name);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(name + " must be part of every JDK (was not)", e);
    }
  }

  private static Sum sum(Consumer<ByteBuffer> update, Supplier<byte[]> value) {
    return new Sum() {
      @Override
      public void update(ByteBuffer bytes) {
        update.accept(bytes);
      }

      @Override
      public byte[] value() {
        return value.get();
      }
    };
  }
}
