package io.penstock.gateway.engines;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/// One side of SGLang with disaggregation. Rooms of a list of prompts and of choices go upward from the room of the
/// request. A client that goes changes nothing: a request runs until it ends or is aborted by its `rid`, and an abort
/// of a `rid` that the tokenizer has not registered yet is ignored.
public final class SglangEngine extends ScriptedEngine {
  private final KvNetwork network;
  private final boolean prefill;
  private final String host;
  private final int port;
  private final Map<String, List<String>> live = new ConcurrentHashMap<>();
  private final Disposable.Composite tokenizing = Disposables.composite();
  private final Set<String> rooms = ConcurrentHashMap.newKeySet();

  /// @param host the host of the prefill's bootstrap server
  /// @param port its port
  public SglangEngine(KvNetwork network, boolean prefill, String host, int port) {
    this.network = network;
    this.prefill = prefill;
    this.host = host;
    this.port = port;
  }

  /// Requests that run, whether or not their clients are there.
  public int live() {
    return live.size();
  }

  @Override
  Mono<Reply> complete(Ask ask) {
    JsonNode body = ask.body();
    Refusal.unless(body.hasNonNull("bootstrap_room"),
        "Invalid request: Disaggregated request received without bootstrap room id.");
    Refusal.unless(!ask.namesTokens() || !ask.chat() || !ask.stream(),
        "return_token_ids is not supported with streaming on /v1/chat/completions. Please set stream=false when using "
            + "return_token_ids=true.");
    JsonNode room = body.path("bootstrap_room");
    Refusal.unless(room.isIntegralNumber() && room.canConvertToLong() && room.asLong() >= 0,
        "bootstrap_room must be from 0 to 2^63-1 (was " + room + ")");
    Refusal.unless(
        body.path("bootstrap_host").asString("").equals(host) && body.path("bootstrap_port").asInt(0) == port,
        "no bootstrap server at " + body.path("bootstrap_host") + ":" + body.path("bootstrap_port"));
    String rid = body.path("rid").asString("");
    Refusal.unless(!rid.isEmpty() && live.keySet().stream().noneMatch(other -> other.startsWith(rid)),
        "rid must not be the beginning of another (was " + rid + ")");
    List<String> own = rooms(ask, room.asLong());
    Refusal.unless(own.stream().allMatch(rooms::add), "room is in use");
    Mono<Void> registered = pace().then(Mono.<Void>fromRunnable(() -> live.put(rid, own))).cache();
    // The tokenizer works on, whether or not the client waits for it.
    tokenizing.add(registered.subscribe());
    return registered.then(Mono.defer(() -> prefill ? compute(ask, own) : decode(ask, own)))
        .map(all -> new Reply(all.status(), all.type(), all.parts().doOnComplete(() -> live.remove(rid))))
        .doOnError(failure -> live.remove(rid));
  }

  @Override
  Mono<Reply> other(Call call) {
    if (!call.path().equals("/abort_request")) {
      return super.other(call);
    }
    List<String> own = live.remove(call.body().path("rid").asString(""));
    if (own != null) {
      own.forEach(network::abandon);
    }
    return Mono.just(Reply.json(200, Tree.object()));
  }

  private Mono<Reply> compute(Ask ask, List<String> own) {
    return Flux.fromIterable(own).concatMap(network::reserved).then(pace()).then(Mono.fromSupplier(() -> {
      for (int i = 0; i < own.size(); i++) {
        network.offer(own.get(i), ask.prompts().get(i / ask.choices()));
      }
      return Reply.json(200, new Answers(first(ask), Model::cached).whole());
    }));
  }

  /// Prefill ends after the first token, whatever the request says.
  private static Ask first(Ask ask) {
    return new Ask(ask.call(), ask.chat(), ask.prompts(), ask.choices(), 1, false);
  }

  private Mono<Reply> decode(Ask ask, List<String> own) {
    own.forEach(network::reserve);
    Mono<Void> received = Flux.range(0, own.size())
        .flatMap(i -> sameAs(network.receive(own.get(i)), ask.prompts().get(i / ask.choices()))).then();
    return generateAfter(ask, received);
  }

  private static List<String> rooms(Ask ask, long first) {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < ask.prompts().size() * ask.choices(); i++) {
      all.add("room-" + (first + i));
    }
    return all;
  }
}
