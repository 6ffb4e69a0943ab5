package io.penstock.gateway.engines;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import tools.jackson.databind.node.ObjectNode;

/// An engine that follows a script. A request whose client goes is aborted, as in vLLM.
public abstract class ScriptedEngine {
  private static final Duration BUSY = Duration.ofSeconds(1);

  private final List<Call> calls = new CopyOnWriteArrayList<>();
  private final List<String> refusals = new CopyOnWriteArrayList<>();
  private final AtomicInteger running = new AtomicInteger();
  private final Sinks.Many<Integer> changes = Sinks.many().replay().latest();
  private volatile Mono<Void> pace = Mono.empty();

  /// What decides when the next thing happens: completes before a prompt is computed, and before each token.
  public final ScriptedEngine paced(Mono<Void> next) {
    pace = next;
    return this;
  }

  /// The requests for tokens that came.
  public final List<Call> calls() {
    return calls;
  }

  /// The rules that requests broke.
  public final List<String> refusals() {
    return refusals;
  }

  /// Requests that run.
  public final int running() {
    return running.get();
  }

  /// Completes when so many requests run.
  public final Mono<Void> running(int number) {
    return changes.asFlux().filter(now -> now == number).next().then();
  }

  /// Answers a request.
  public final Mono<Reply> handle(Call call) {
    return Mono.defer(() -> route(call)).onErrorResume(Refusal.class, refusal -> {
      refusals.add(String.valueOf(refusal.getMessage()));
      return Mono.just(refusal.reply());
    });
  }

  /// The name of its model.
  String model() {
    return "m";
  }

  /// Answers a request for tokens.
  abstract Mono<Reply> complete(Ask ask);

  /// Whether the engine answers `/v1/responses` or `/v1/messages` itself.
  boolean hasForm(String path) {
    return false;
  }

  /// Answers a request of such a form.
  Mono<Reply> own(Call call) {
    return other(call);
  }

  /// Answers what is no request for tokens.
  Mono<Reply> other(Call call) {
    return switch (call.method() + " " + call.path()) {
      case "GET /health" -> Mono.just(Reply.json(200, Tree.object()));
      case "GET /v1/models" -> {
        ObjectNode models = Tree.object().put("object", "list");
        models.putArray("data").addObject().put("id", model()).put("object", "model").put("created", 1)
            .put("owned_by", "script");
        yield Mono.just(Reply.json(200, models));
      }
      default -> Mono.error(new Refusal(404, "Not Found"));
    };
  }

  final Mono<Void> pace() {
    return pace;
  }

  /// The answer to a leg that decodes, once its prompt is there.
  final Mono<Reply> generate(Ask ask, Answers answers) {
    if (ask.stream()) {
      return Mono.just(Reply.events(answers.chunks(pace)));
    }
    return pace.then(Mono.fromSupplier(() -> Reply.json(200, answers.whole())));
  }

  /// The answer to a decode leg: the status is 200 at once when it streams, and tokens come when the keys and values
  /// have come.
  final Mono<Reply> generateAfter(Ask ask, Mono<Void> received) {
    Answers answers = new Answers(ask, Model::length);
    if (ask.stream()) {
      return Mono.just(Reply.events(received.thenMany(answers.chunks(pace))));
    }
    return received.then(pace).then(Mono.fromSupplier(() -> Reply.json(200, answers.whole())));
  }

  static Mono<Void> sameAs(Mono<String> received, String prompt) {
    return received.doOnNext(other -> {
      if (!other.equals(prompt)) {
        throw new Refusal(500, "keys and values are those of another prompt: " + other);
      }
    }).then();
  }

  private Mono<Reply> route(Call call) {
    boolean chat = call.path().equals("/v1/chat/completions");
    if (call.method().equals("POST") && hasForm(call.path())) {
      calls.add(call);
      return counted(Mono.defer(() -> own(call)));
    }
    if (!call.method().equals("POST") || (!chat && !call.path().equals("/v1/completions"))) {
      return other(call);
    }
    calls.add(call);
    Ask ask = Ask.of(call, chat);
    return counted(Mono.defer(() -> complete(ask)));
  }

  private Mono<Reply> counted(Mono<Reply> answer) {
    return Mono.defer(() -> {
      Runnable end = begun();
      return answer.doOnError(failure -> end.run()).doOnCancel(end)
          .map(reply -> new Reply(reply.status(), reply.type(), reply.parts().doFinally(signal -> end.run())));
    });
  }

  private Runnable begun() {
    AtomicBoolean ended = new AtomicBoolean();
    changes.emitNext(running.incrementAndGet(), Sinks.EmitFailureHandler.busyLooping(BUSY));
    return () -> {
      if (ended.compareAndSet(false, true)) {
        changes.emitNext(running.decrementAndGet(), Sinks.EmitFailureHandler.busyLooping(BUSY));
      }
    };
  }
}
