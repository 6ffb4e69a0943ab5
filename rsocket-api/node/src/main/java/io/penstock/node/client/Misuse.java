package io.penstock.node.client;

import io.penstock.node.link.Answers;
import io.penstock.node.text.Reason;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import java.time.Duration;
import reactor.core.publisher.Mono;

/// Reports a request that a node refuses as a wrong value of an option.
final class Misuse {
  private Misuse() {}

  /// The value of `answer`.
  ///
  /// @throws IllegalArgumentException naming `option` if the node refuses the request as malformed
  static <T> T of(String option, Mono<T> answer, Duration patience) {
    try {
      return Answers.of(answer, patience);
    } catch (RemotePermanentException e) {
      throw e.code() == ErrorCode.BAD_REQUEST.code()
          ? new IllegalArgumentException(
              Reason.about(option, new IllegalArgumentException(String.valueOf(e.getMessage()))), e)
          : e;
    }
  }
}
