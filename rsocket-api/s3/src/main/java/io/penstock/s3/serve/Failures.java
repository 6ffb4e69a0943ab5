package io.penstock.s3.serve;

import io.penstock.TransientKvException;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.IncompleteBlockException;
import io.penstock.node.door.DoorUses;
import io.penstock.s3.object.Reply;
import io.penstock.s3.reply.Documents;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import io.penstock.tier.TierClosedException;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Failures as S3 tells them.
final class Failures {
  private static final Logger LOG = LoggerFactory.getLogger(Failures.class);
  /// What happens to clients that do nothing wrong.
  private static final Set<S3Code> ORDINARY = Set.of(S3Code.NO_SUCH_KEY, S3Code.NO_SUCH_UPLOAD,
      S3Code.PRECONDITION_FAILED, S3Code.CONDITIONAL_REQUEST_CONFLICT, S3Code.INVALID_RANGE,
      S3Code.INVALID_PART_NUMBER, S3Code.INCOMPLETE_BODY, S3Code.SLOW_DOWN, S3Code.SERVICE_UNAVAILABLE,
      S3Code.INTERNAL_ERROR);

  private Failures() {}

  /// What a client is told.
  static S3Exception of(Throwable failure) {
    return switch (failure) {
      case S3Exception refusal -> refusal;
      case TierClosedException closed -> new S3Exception(S3Code.SERVICE_UNAVAILABLE, "node must be open (closes)");
      case TransientKvException busy -> new S3Exception(S3Code.SLOW_DOWN, String.valueOf(busy.getMessage()));
      default -> {
        LOG.warn("a request of the door s3 failed", failure);
        yield new S3Exception(S3Code.INTERNAL_ERROR, "node must answer (failed)");
      }
    };
  }

  /// Whether `refusal` has a line in the log. Misses, conditions that do not hold, bodies whose connection ended, and
  /// failures of the node have none.
  static boolean isToBeLogged(S3Exception refusal) {
    return !ORDINARY.contains(refusal.code());
  }

  /// What a client is told whose object cannot be read: that there is none.
  static Throwable ofRead(Throwable failure, DoorUses.Use use) {
    if (failure instanceof BlockCorruptException) {
      use.count(DoorUses.Kind.DAMAGE);
    } else if (!(failure instanceof IncompleteBlockException)) {
      return failure;
    }
    use.count(DoorUses.Kind.MISS);
    return new S3Exception(S3Code.NO_SUCH_KEY, "key must be that of an object (is of none)");
  }

  /// The response to a refusal.
  static Reply reply(S3Exception refusal, String resource, String requestId) {
    byte[] document = Documents.bytes(new Documents.Failure(refusal.code().text(),
        Documents.carried(String.valueOf(refusal.getMessage())), Documents.carried(resource), requestId));
    return new Reply(refusal.code().status(), Map.of(), document, null);
  }
}
