package io.penstock.s3.request;

import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/// Percent-encoding of bytes, as signatures have it: all but letters, digits and `-_.~` is encoded.
public final class Percent {
  private static final String PLAIN = "-_.~";
  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  private Percent() {}

  /// The bytes of `text`, whose characters are those of a request line.
  ///
  /// @param plusIsSpace as in a query
  /// @throws S3Exception if it is not of its form
  static byte[] decode(String text, boolean plusIsSpace) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      if (each == '%') {
        if (i + 2 >= text.length() || !HexFormat.isHexDigit(text.charAt(i + 1))
            || !HexFormat.isHexDigit(text.charAt(i + 2))) {
          throw new S3Exception(S3Code.INVALID_ARGUMENT,
              "a percent sign must have two hexadecimal digits behind it (was "
                  + text.substring(i, Math.min(i + 3, text.length())) + ")");
        }
        bytes.write(HexFormat.fromHexDigits(text, i + 1, i + 3));
        i += 2;
      } else {
        bytes.write(each == '+' && plusIsSpace ? ' ' : each);
      }
    }
    return bytes.toByteArray();
  }

  /// `bytes`, encoded.
  ///
  /// @param keepSlashes whether a slash stays
  public static String encode(byte[] bytes, boolean keepSlashes) {
    StringBuilder text = new StringBuilder(bytes.length + 16);
    for (byte each : bytes) {
      char one = (char) (each & 0xFF);
      boolean isPlain = (one < 0x80 && Character.isLetterOrDigit(one)) || PLAIN.indexOf(one) >= 0
          || (one == '/' && keepSlashes);
      if (isPlain) {
        text.append(one);
      } else {
        text.append('%').append(HEX.toHexDigits(each));
      }
    }
    return text.toString();
  }

  /// `text` in UTF-8, encoded.
  public static String encode(String text, boolean keepSlashes) {
    return encode(text.getBytes(StandardCharsets.UTF_8), keepSlashes);
  }
}
