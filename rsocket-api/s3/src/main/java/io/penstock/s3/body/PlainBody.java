package io.penstock.s3.body;

import io.netty.buffer.ByteBuf;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A body that is the object.
public final class PlainBody implements BodyDecoder {
  private final long length;
  private long came;

  /// @param length of the object
  public PlainBody(long length) {
    this.length = length;
  }

  @Override
  public @Nullable ByteBuf next(ByteBuf from) {
    int bytes = from.readableBytes();
    came += bytes;
    if (came > length) {
      throw new S3Exception(S3Code.INCOMPLETE_BODY, "body must have " + length + " bytes (had more)");
    }
    return bytes == 0 ? null : from.readRetainedSlice(bytes);
  }

  @Override
  public Map<String, String> end() {
    if (came != length) {
      throw new S3Exception(S3Code.INCOMPLETE_BODY, "body must have " + length + " bytes (had " + came + ")");
    }
    return Map.of();
  }
}
