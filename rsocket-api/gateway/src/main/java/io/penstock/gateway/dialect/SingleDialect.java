package io.penstock.gateway.dialect;

import reactor.core.publisher.Flux;

/// One instance does both: the body goes as it is.
final class SingleDialect implements Dialect {
  private final Legs legs;
  private final LegIds ids;

  SingleDialect(Legs legs, LegIds ids) {
    this.legs = legs;
    this.ids = ids;
  }

  @Override
  public Flux<AnswerEvent> answer(EngineRequest request, EnginePair pair) {
    return Flux.defer(() -> legs
        .decode(legs.leg(Leg.Role.BOTH, pair.decode(), request, ids.next(request), request.copy())));
  }
}
