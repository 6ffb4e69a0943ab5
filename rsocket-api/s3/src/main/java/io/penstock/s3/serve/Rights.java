package io.penstock.s3.serve;

import io.penstock.s3.object.Plan;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.Role;

/// What users may do in a space, as the node's rules say.
final class Rights {
  private Rights() {}

  /// @throws S3Exception if the user may not do it
  static void require(Access access, String user, String space, Plan plan) {
    Role needed = switch (plan.does()) {
      case READS -> Role.READER;
      case WRITES -> Role.WRITER;
      case REMOVES -> Role.ADMIN;
    };
    if (!access.isOpen() && access.role(user, space).filter(role -> role.includes(needed)).isEmpty()) {
      throw new S3Exception(S3Code.ACCESS_DENIED, "user must be " + needed.word() + " of the space (is not)");
    }
  }
}
