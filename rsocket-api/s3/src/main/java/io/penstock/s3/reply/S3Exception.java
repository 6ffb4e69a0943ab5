package io.penstock.s3.reply;

import static java.util.Objects.requireNonNull;

/// A request that is refused with one of S3's error codes.
public final class S3Exception extends RuntimeException {
  private final S3Code code;

  /// @param message in the form "*name must be rule (was value)*"
  public S3Exception(S3Code code, String message) {
    super(message, null, false, false); // an answer to a client, not a fault of this process
    this.code = requireNonNull(code, "code");
  }

  public S3Code code() {
    return code;
  }
}
