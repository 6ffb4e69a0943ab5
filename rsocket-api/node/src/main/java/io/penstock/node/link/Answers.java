package io.penstock.node.link;

import static java.util.Objects.requireNonNull;

import io.penstock.node.cli.UnavailableException;
import io.penstock.node.text.Durations;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;

/// Waits for a node. Commands have a thread of their own to wait on, which the kernel and the wire never do.
public final class Answers {
  private Answers() {}

  /// The value of `answer`.
  ///
  /// @throws UnavailableException if it does not come in time
  public static <T> T of(Mono<T> answer, Duration patience) {
    try {
      return requireNonNull(answer.block(patience), "every answer has a value");
    } catch (IllegalStateException e) {
      if (e.getCause() instanceof TimeoutException) {
        throw new UnavailableException(
            "the node must answer within --timeout, " + Durations.print(patience) + " (was silent)", e);
      }
      throw e;
    }
  }
}
