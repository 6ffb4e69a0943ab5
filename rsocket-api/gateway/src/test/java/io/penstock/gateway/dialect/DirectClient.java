package io.penstock.gateway.dialect;

import io.penstock.gateway.engines.Call;
import io.penstock.gateway.engines.Reply;
import io.penstock.gateway.engines.ScriptedEngine;
import io.penstock.gateway.engines.Tree;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Legs to scripted engines without sockets: what takes time, and what goes wrong, is decided by a test.
final class DirectClient implements EngineClient {
  /// What goes wrong with a leg.
  enum Fault {
    NONE, UNREACHABLE, REFUSED, HANGS, GONE, BREAKS
  }

  private final Map<String, ScriptedEngine> engines = new HashMap<>();
  private Supplier<Mono<Void>> latency = Mono::empty;
  private Function<Leg, Fault> faults = leg -> Fault.NONE;
  private Function<Leg, Leg> tampering = leg -> leg;
  private IntSupplier breaksAfter = () -> 2;
  private BiFunction<Leg, String, String> answers = (leg, text) -> text;

  void engine(String url, ScriptedEngine engine) {
    engines.put(url, engine);
  }

  void latency(Supplier<Mono<Void>> time) {
    latency = time;
  }

  void faults(Function<Leg, Fault> wrong) {
    faults = wrong;
  }

  /// Parts of an answer that come before it breaks.
  void breaksAfter(IntSupplier parts) {
    breaksAfter = parts;
  }

  void answers(BiFunction<Leg, String, String> change) {
    answers = change;
  }

  void tampering(Function<Leg, Leg> change) {
    tampering = change;
  }

  @Override
  public Flux<String> events(Leg leg) {
    return parts(leg).map(part -> part.substring("data: ".length()).strip())
        .filter(json -> !json.equals("[DONE]"));
  }

  @Override
  public Mono<ObjectNode> answer(Leg leg) {
    return parts(leg).single().map(text -> (ObjectNode) Tree.read(text));
  }

  @Override
  public Mono<JsonNode> get(URI uri) {
    return other("GET", uri, Tree.object())
        .flatMap(reply -> reply.status() == 200
            ? reply.parts().single().map(Tree::read)
            : Mono.error(new IllegalStateException("it answered " + reply.status())));
  }

  @Override
  public Mono<Void> post(URI uri, ObjectNode message) {
    return other("POST", uri, message).then();
  }

  private Mono<Reply> other(String method, URI uri, ObjectNode message) {
    ScriptedEngine engine = engines.get(uri.getScheme() + "://" + uri.getAuthority());
    return Mono.defer(latency)
        .then(Mono.defer(() -> engine.handle(new Call(method, uri.getPath(), Map.of(), message))));
  }

  private Flux<String> parts(Leg planned) {
    return Flux.defer(() -> {
      Leg leg = tampering.apply(planned);
      Fault fault = faults.apply(leg);
      if (fault == Fault.UNREACHABLE) {
        return Mono.defer(latency).thenMany(
            Flux.error(LegFailure.unreachable(leg, new ConnectException("Connection refused"))));
      }
      Flux<String> answer = Mono.defer(latency).then(Mono.defer(() -> engines.get(leg.engine().url().toString())
          .handle(new Call("POST", leg.path(), leg.headers(), Tree.read(Json.text(leg.body()))))))
          .flatMapMany(reply -> reply.status() == 200
              ? reply.parts().map(part -> answers.apply(leg, part))
              : refused(leg, reply));
      return broken(leg, fault, answer).onErrorMap(failure -> !(failure instanceof LegFailure),
          failure -> LegFailure.broken(leg, "broke off", failure));
    });
  }

  private Flux<String> broken(Leg leg, Fault fault, Flux<String> answer) {
    return switch (fault) {
      case NONE, UNREACHABLE -> answer;
      case REFUSED -> Mono.defer(latency).thenMany(Flux.error(LegFailure.refused(leg, 500, "{}")));
      case GONE -> Flux.merge(answer.thenMany(Flux.<String>never()).takeUntilOther(Mono.defer(latency)),
          Mono.defer(latency).then(Mono.<String>error(LegFailure.gone(leg, new IOException("reset")))));
      case HANGS -> answer.filter(part -> false).concatWith(Flux.never());
      case BREAKS -> Flux.concat(answer.take(breaksAfter.getAsInt()),
          Flux.error(LegFailure.broken(leg, "broke off", new IOException("reset"))));
    };
  }

  private static Flux<String> refused(Leg leg, Reply reply) {
    return reply.parts().reduce("", String::concat)
        .flatMapMany(body -> Flux.error(LegFailure.refused(leg, reply.status(), body)));
  }
}
