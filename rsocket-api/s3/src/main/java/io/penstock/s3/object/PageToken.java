package io.penstock.s3.object;

import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.zip.CRC32C;

/// The place where the next page of a list begins, as clients send it back: the last key of the page before, behind its
/// checksum. The checksum tells such a token from a text that a client made up.
final class PageToken {
  /// Characters of a token that an error tells.
  private static final int MOST_SHOWN = 64;

  private PageToken() {}

  /// @param last key or common prefix of a page
  static String of(String last) {
    byte[] key = last.getBytes(StandardCharsets.UTF_8);
    byte[] token = ByteBuffer.allocate(Integer.BYTES + key.length).putInt(sum(key)).put(key).array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(token);
  }

  /// The key in `token`.
  ///
  /// @throws S3Exception if no list gave this token
  static String key(String token) {
    byte[] bytes;
    try {
      bytes = Base64.getUrlDecoder().decode(token);
    } catch (IllegalArgumentException e) {
      throw unknown(token);
    }
    if (bytes.length < Integer.BYTES) {
      throw unknown(token);
    }
    ByteBuffer from = ByteBuffer.wrap(bytes);
    int sum = from.getInt();
    byte[] key = new byte[from.remaining()];
    from.get(key);
    if (sum != sum(key)) {
      throw unknown(token);
    }
    return new String(key, StandardCharsets.UTF_8);
  }

  private static int sum(byte[] key) {
    CRC32C sum = new CRC32C();
    sum.update(key);
    return (int) sum.getValue();
  }

  private static S3Exception unknown(String token) {
    return new S3Exception(S3Code.INVALID_ARGUMENT,
        "continuation-token must be the NextContinuationToken of a list (was "
            + (token.length() > MOST_SHOWN ? token.substring(0, MOST_SHOWN) + "..." : token) + ")");
  }
}
