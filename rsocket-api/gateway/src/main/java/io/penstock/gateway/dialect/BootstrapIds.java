package io.penstock.gateway.dialect;

import java.net.URI;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/// The engine ids of prefill instances by data-parallel rank, as their bootstrap servers tell them. Known ids are kept
/// until a leg fails: a prefill that restarted has other ids. Concurrent questions to one server are one question.
final class BootstrapIds {
  private final EngineClient client;
  private final Map<URI, Mono<TreeMap<Integer, String>>> known = new ConcurrentHashMap<>();

  BootstrapIds(EngineClient client) {
    this.client = client;
  }

  /// The ids by rank, or a [RequestFailure] with status 503 while the server does not know them.
  Mono<TreeMap<Integer, String>> of(URI bootstrap) {
    return Mono.defer(() -> known.computeIfAbsent(bootstrap, this::question))
        .doOnError(failure -> known.remove(bootstrap));
  }

  void forget(URI bootstrap) {
    known.remove(bootstrap);
  }

  private Mono<TreeMap<Integer, String>> question(URI bootstrap) {
    return client.get(URI.create(bootstrap + "/query")).map(answer -> ids(bootstrap, answer))
        .onErrorMap(failure -> !(failure instanceof RequestFailure), failure -> unknown(bootstrap, failure.getMessage()))
        .cache();
  }

  private static TreeMap<Integer, String> ids(URI bootstrap, JsonNode answer) {
    TreeMap<Integer, String> ids = new TreeMap<>();
    for (Map.Entry<String, JsonNode> entry : answer.properties()) {
      String id = entry.getValue().path("engine_id").asString("");
      if (!entry.getKey().matches("[0-9]{1,6}") || id.isEmpty()) {
        throw unknown(bootstrap, "its answer names no engine id for rank " + entry.getKey());
      }
      ids.put(Integer.valueOf(entry.getKey()), id);
    }
    if (ids.isEmpty()) {
      throw unknown(bootstrap, "no rank has registered");
    }
    return ids;
  }

  private static RequestFailure unknown(URI bootstrap, String why) {
    return new RequestFailure(503, "engine ids of the prefill with bootstrap server " + bootstrap + " are unknown: " + why);
  }
}
