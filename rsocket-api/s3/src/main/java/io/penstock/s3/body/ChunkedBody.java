package io.penstock.s3.body;

import io.netty.buffer.ByteBuf;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A body in chunks of the service (`aws-chunked`): `SIZE[;chunk-signature=SIGNATURE]`, the bytes, and behind the empty
/// chunk perhaps a trailer. Bytes of a chunk go on before its signature came; the end of the body waits for all.
public final class ChunkedBody implements BodyDecoder {
  private static final Pattern HEAD = Pattern.compile("([0-9A-Fa-f]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?");
  private static final String SIGNATURE = "x-amz-trailer-signature";
  private static final int MOST_LINE = 1024;
  private static final int MOST_TRAILER = 4096;

  /// What comes next.
  private enum Part {
    HEAD, BYTES, BREAK, TRAILER, END
  }

  private final long length;
  /// Null for chunks without signatures.
  private final @Nullable ChunkSeal seal;
  private final boolean hasTrailer;
  private final MessageDigest digest = Algorithm.digest("SHA-256");
  private final StringBuilder line = new StringBuilder();
  private final StringBuilder trailerLines = new StringBuilder();
  private final Map<String, String> trailer = new TreeMap<>();
  private Part part = Part.HEAD;
  private String signature = "";
  private @Nullable String trailerSignature;
  private long left;
  private long came;

  /// @param length of the object
  /// @param seal null for chunks without signatures, or whose signatures are not looked at
  /// @param hasTrailer whether there is one
  public ChunkedBody(long length, @Nullable ChunkSeal seal, boolean hasTrailer) {
    this.length = length;
    this.seal = seal;
    this.hasTrailer = hasTrailer;
  }

  @Override
  public @Nullable ByteBuf next(ByteBuf from) {
    while (from.isReadable()) {
      if (part == Part.BYTES) {
        return bytes(from);
      } else if (part == Part.END) {
        throw new S3Exception(S3Code.INCOMPLETE_BODY, "body must end behind its last chunk (went on)");
      } else if (hasLine(from)) {
        String read = line.toString();
        line.setLength(0);
        line(read);
      }
    }
    return null;
  }

  private ByteBuf bytes(ByteBuf from) {
    int bytes = (int) Math.min(left, from.readableBytes());
    ByteBuf slice = from.readRetainedSlice(bytes);
    if (seal != null) {
      digest.update(slice.nioBuffer());
    }
    left -= bytes;
    came += bytes;
    if (left == 0) {
      part = Part.BREAK;
    }
    return slice;
  }

  /// Reads up to the end of a line; false if it has not come.
  private boolean hasLine(ByteBuf from) {
    while (from.isReadable()) {
      char each = (char) from.readUnsignedByte();
      if (each == '\n') {
        if (!line.isEmpty() && line.charAt(line.length() - 1) == '\r') {
          line.setLength(line.length() - 1);
        }
        return true;
      }
      line.append(each);
      if (line.length() > MOST_LINE) {
        throw new S3Exception(S3Code.INCOMPLETE_BODY,
            "line of a chunk must be <= " + MOST_LINE + " bytes (was longer)");
      }
    }
    return false;
  }

  private void line(String read) {
    switch (part) {
      case HEAD -> head(read);
      case BREAK -> ended(read);
      case TRAILER -> trailer(read);
      case BYTES, END -> throw new IllegalStateException("part must be one of lines (was " + part + ")");
    }
  }

  private void head(String read) {
    Matcher head = HEAD.matcher(read);
    if (!head.matches() || (head.group(2) == null && seal != null)) {
      throw new S3Exception(S3Code.INCOMPLETE_BODY, "chunk must begin with its size"
          + (seal == null ? "" : " and its signature") + " (did not)");
    }
    left = Long.parseLong(head.group(1), 16);
    signature = seal == null ? "" : head.group(2);
    if (left > length - came) {
      throw new S3Exception(S3Code.INCOMPLETE_BODY, "chunks must have " + length + " bytes together (had more)");
    }
    if (left > 0) {
      part = Part.BYTES;
      return;
    }
    verifyChunk();
    part = Part.TRAILER; // of no lines, where there is none
  }

  private void ended(String read) {
    if (!read.isEmpty()) {
      throw new S3Exception(S3Code.INCOMPLETE_BODY, "chunk must end where its size says (did not)");
    }
    verifyChunk();
    part = Part.HEAD;
  }

  private void verifyChunk() {
    if (seal != null && !seal.chunk(digest.digest()).equals(signature)) {
      throw new S3Exception(S3Code.SIGNATURE_DOES_NOT_MATCH,
          "signature of a chunk must be the one that its bytes give (was another)");
    }
  }

  private void trailer(String read) {
    if (read.isEmpty()) {
      boolean isWhole = !hasTrailer || seal == null || trailerSignature != null;
      // AWS's own text has an empty line before the signature
      part = isWhole || trailer.isEmpty() ? Part.END : Part.TRAILER;
      return;
    }
    int colon = read.indexOf(':');
    if (colon <= 0 || !hasTrailer || trailerLines.length() + read.length() > MOST_TRAILER) {
      throw malformed("must have short lines of NAME:VALUE, where x-amz-trailer says so (did not)");
    }
    String name = read.substring(0, colon).strip().toLowerCase(Locale.ROOT);
    String value = read.substring(colon + 1).strip();
    if (name.equals(SIGNATURE) && trailerSignature == null) {
      trailerSignature = value;
    } else if (trailerSignature != null || trailer.put(name, value) != null) {
      throw malformed("must have each header once, and its signature last (did not)");
    } else {
      trailerLines.append(name).append(':').append(value).append('\n');
    }
  }

  private static S3Exception malformed(String rule) {
    return new S3Exception(S3Code.MALFORMED_TRAILER, "trailer " + rule);
  }

  @Override
  public Map<String, String> end() {
    // some clients leave out the last empty line
    boolean isEnd = part == Part.END || (part == Part.TRAILER && line.isEmpty());
    if (!isEnd || came != length) {
      throw new S3Exception(S3Code.INCOMPLETE_BODY, "chunks must have " + length + " bytes and an end (had " + came
          + (isEnd ? "" : " and none") + ")");
    }
    if (seal != null && hasTrailer) {
      byte[] hash = Algorithm.digest("SHA-256").digest(trailerLines.toString().getBytes(StandardCharsets.UTF_8));
      if (!seal.trailer(hash).equals(trailerSignature)) {
        throw new S3Exception(S3Code.SIGNATURE_DOES_NOT_MATCH,
            "signature of the trailer must be the one that its lines give (was another)");
      }
    }
    return trailer;
  }
}
