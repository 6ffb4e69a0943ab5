package io.penstock.node.trace;

import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.util.zip.GZIPInputStream;

/// Unpacks a stream of one or more gzip members, as `cat a.gz b.gz` and parallel packers write them.
///
/// `GZIPInputStream` looks for a next member only while its source reports available bytes, which a pipe between two
/// writes does not, and takes bytes that are no member for the end. So the source reports a byte until it has ended,
/// and bytes behind the last member are refused unless they are padding of zeros.
final class GzipMembers extends GZIPInputStream {
  private final Source source;

  private GzipMembers(Source source, int bufferBytes) throws IOException {
    super(source, bufferBytes);
    this.source = source;
  }

  /// @throws java.util.zip.ZipException if `in` does not begin with a gzip member
  static InputStream of(InputStream in, int bufferBytes) throws IOException {
    return new GzipMembers(new Source(in), bufferBytes);
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int count = super.read(bytes, offset, length);
    if (count < 0) {
      requireEnd();
    }
    return count;
  }

  private void requireEnd() throws IOException {
    // The inflater keeps the trailer of the last member, and what was read behind it
    int behind = Math.max(0, inf.getRemaining() - TRAILER_BYTES);
    boolean isPadding = true;
    for (int i = len - behind; i < len; i++) {
      isPadding &= buf[i] == 0;
    }
    if (!isPadding || !source.isPadding()) {
      throw new IOException("the gzip stream must end with a whole member (other bytes follow its last one)");
    }
  }

  private static final int TRAILER_BYTES = 8;

  /// A source that reports an available byte unless it has ended.
  private static final class Source extends PushbackInputStream {
    Source(InputStream in) {
      super(in);
    }

    @Override
    public int available() throws IOException {
      int next = read();
      if (next >= 0) {
        unread(next);
      }
      return next < 0 ? 0 : Math.max(1, super.available());
    }

    boolean isPadding() throws IOException {
      int next = read();
      while (next == 0) {
        next = read();
      }
      return next < 0;
    }
  }
}
