package io.penstock.s3.object;

import java.util.function.Function;
import reactor.core.publisher.Mono;

/// What is done about a request: whether its body is read, and how it is answered.
public sealed interface Plan {
  /// The body is none, or is dropped.
  record Answer(Mono<Reply> reply) implements Plan {}

  /// The body is a document.
  record Read(Function<byte[], Mono<Reply>> reply) implements Plan {}

  /// The body is an object.
  record Store(Function<Incoming, Mono<Reply>> reply) implements Plan {}
}
