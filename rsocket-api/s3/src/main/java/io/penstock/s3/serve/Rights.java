package io.penstock.s3.serve;

import io.netty.handler.codec.http.HttpMethod;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.Role;

/// What users may do in a space, as the node's rules say.
final class Rights {
  private Rights() {}

  /// @throws S3Exception if the user may not do it
  static void require(Access access, String user, String space, HttpMethod method) {
    Role needed = switch (method.name()) {
      case "GET", "HEAD" -> Role.READER;
      case "DELETE" -> Role.ADMIN;
      default -> Role.WRITER;
    };
    if (!access.isOpen() && access.role(user, space).filter(role -> role.includes(needed)).isEmpty()) {
      throw new S3Exception(S3Code.ACCESS_DENIED, "user must be " + needed.word() + " of the space (is not)");
    }
  }
}
