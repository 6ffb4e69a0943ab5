package io.penstock.s3.request;

import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Bytes of an object that a request asks for.
///
/// @param offset of the first
/// @param bytes from 1 on
public record ByteRange(long offset, long bytes) {
  private static final Pattern FORM = Pattern.compile("bytes=(\\d{0,18})-(\\d{0,18})");

  /// The range in `header`. A header of another form asks for the whole object, as HTTP has it.
  ///
  /// @param length of the object
  /// @return empty for the whole
  /// @throws S3Exception if no byte of the object is in it
  public static Optional<ByteRange> of(@Nullable String header, long length) {
    Matcher form = FORM.matcher(header == null ? "" : header.strip());
    if (!form.matches() || (form.group(1).isEmpty() && form.group(2).isEmpty())) {
      return Optional.empty();
    }
    if (form.group(1).isEmpty()) {
      long last = Math.min(length, Long.parseLong(form.group(2)));
      return Optional.of(inside(length - last, last, length));
    }
    long first = Long.parseLong(form.group(1));
    long end = form.group(2).isEmpty() ? length : Math.min(length, Long.parseLong(form.group(2)) + 1);
    if (!form.group(2).isEmpty() && Long.parseLong(form.group(2)) < first) {
      return Optional.empty();
    }
    return Optional.of(inside(first, end - first, length));
  }

  private static ByteRange inside(long offset, long bytes, long length) {
    if (bytes < 1) {
      throw new S3Exception(S3Code.INVALID_RANGE, "range must have bytes of the object (of " + length + ")");
    }
    return new ByteRange(offset, bytes);
  }

  /// Value of the header `Content-Range`.
  public String header(long length) {
    return "bytes " + offset + "-" + (offset + bytes - 1) + "/" + length;
  }
}
