package io.penstock.gateway.engines;

import reactor.core.publisher.Mono;

/// An engine that computes and answers.
public final class SingleEngine extends ScriptedEngine {
  @Override
  Mono<Reply> complete(Ask ask) {
    return generate(ask, new Answers(ask, Model::cached));
  }
}
