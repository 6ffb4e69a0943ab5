package io.penstock.s3.body;

import io.netty.buffer.ByteBuf;
import io.penstock.s3.reply.S3Exception;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Finds the bytes of an object in the body of a request. Used by one thread at a time.
public interface BodyDecoder {
  /// The next bytes of the object.
  ///
  /// @param from bytes as they came; what was decoded is read from it
  /// @return a retained slice of `from`; null if `from` has no more of them
  /// @throws S3Exception if the body is not of its form
  @Nullable ByteBuf next(ByteBuf from);

  /// Ends the body.
  ///
  /// @return headers of the trailer, names in lower case
  /// @throws S3Exception if bytes are missing
  Map<String, String> end();
}
