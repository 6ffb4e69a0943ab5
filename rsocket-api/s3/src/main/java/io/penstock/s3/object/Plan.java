package io.penstock.s3.object;

import java.util.function.Function;
import reactor.core.publisher.Mono;

/// What is done about a request: whether its body is read, how it is answered, and what that does to objects.
public sealed interface Plan {
  /// What a plan does, which tells who may have it done.
  enum Does {
    READS,
    /// Stores, or ends an upload of its own.
    WRITES,
    REMOVES
  }

  Does does();

  /// The body is none, or is dropped.
  record Answer(Does does, Mono<Reply> reply) implements Plan {}

  /// The body is a document.
  record Read(Does does, Function<byte[], Mono<Reply>> reply) implements Plan {}

  /// The body is an object.
  record Store(Function<Incoming, Mono<Reply>> reply) implements Plan {
    @Override
    public Does does() {
      return Does.WRITES;
    }
  }
}
