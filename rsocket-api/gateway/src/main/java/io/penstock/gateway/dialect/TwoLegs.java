package io.penstock.gateway.dialect;

import io.penstock.operator.InTurn;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.node.ObjectNode;

/// Two legs that run at once, as one answer.
///
/// - A prefill that fails before the first event ends the decode leg, which would wait for keys and values that never
///   come, and its failure is the answer's. Once the decode engine has answered, it has received everything: a prefill
///   leg that fails then costs the figure of cached tokens and nothing else.
/// - A decode leg that fails ends the prefill leg.
/// - Usage waits for the prefill's answer, at most [#PATIENCE].
final class TwoLegs {
  /// The longest wait of the last chunk for the prefill's figures. Prefill computed its answer before the first token.
  static final Duration PATIENCE = Duration.ofSeconds(1);
  /// Chunks that are read ahead of the client.
  private static final int PREFETCH = 8;

  private final Sinks.One<ObjectNode> figures = Sinks.one();
  private final Sinks.Empty<Void> decoded = Sinks.empty();
  private final AtomicBoolean sent = new AtomicBoolean();
  private final AtomicBoolean answered = new AtomicBoolean();
  private final Scheduler timer;

  private TwoLegs(Scheduler timer) {
    this.timer = timer;
  }

  /// Runs both legs. The prefill leg is subscribed to first.
  ///
  /// @param gate completes when the prefill leg may be sent
  static Flux<AnswerEvent> join(Mono<Void> gate, Mono<ObjectNode> prefill, Flux<AnswerEvent> decode, Scheduler timer) {
    return Flux.defer(() -> new TwoLegs(timer).run(gate, prefill, decode));
  }

  private Flux<AnswerEvent> run(Mono<Void> gate, Mono<ObjectNode> prefill, Flux<AnswerEvent> decode) {
    Mono<ObjectNode> computed = gate.then(prefill.doOnSubscribe(subscription -> sent.set(true)))
        .doOnNext(figures::tryEmitValue)
        .onErrorResume(failure -> answered.get(), failure -> Mono.fromRunnable(this::unknown))
        .takeUntilOther(decoded.asMono());
    Flux<AnswerEvent> corrected = decode.doOnNext(event -> answered.set(true))
        .concatMap(event -> CachedTokens.isIn(event) ? correct(event) : Mono.just(event), 1)
        .doOnComplete(decoded::tryEmitEmpty);
    return Flux.merge(PREFETCH, InTurn.of(computed, Flux.<AnswerEvent>empty()), corrected);
  }

  private void unknown() {
    figures.tryEmitValue(Json.object());
  }

  /// A decode engine that answered before the prefill was asked has computed the prompt itself: its figure is right.
  private Mono<AnswerEvent> correct(AnswerEvent event) {
    if (!sent.get()) {
      return Mono.just(event);
    }
    return figures.asMono().timeout(PATIENCE, Mono.fromRunnable(this::unknown).then(figures.asMono()), timer)
        .map(prefill -> CachedTokens.correct(event, prefill));
  }
}
