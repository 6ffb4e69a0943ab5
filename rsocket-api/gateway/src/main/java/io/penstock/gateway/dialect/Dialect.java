package io.penstock.gateway.dialect;

import reactor.core.publisher.Flux;

/// How one request becomes legs at the engines of a pair, and their answers one answer.
///
/// A dialect holds no state of a request outside of the stream that it returns. Safe for use by several threads.
public interface Dialect {
  /// The answer: chunks when the request asks for a stream, otherwise one [AnswerEvent.Whole]. Cold, and each
  /// subscription is one attempt with ids of its own.
  ///
  /// - Backpressure: chunks are read from the decode engine as they are requested, a few ahead.
  /// - Cancel: closes both legs, and asks the engine to abort where it has a way to be asked.
  /// - Errors: [LegFailure] names the leg that failed and what its engine said; [RequestFailure] was caused before a
  ///   leg was sent. An error after the first event means that the answer is not whole. The stream completes only when
  ///   the decode engine ended its answer itself.
  Flux<AnswerEvent> answer(EngineRequest request, EnginePair pair);
}
