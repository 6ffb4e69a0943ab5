package io.penstock.gateway.dialect;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.JsonNode;

/// The engine ids of prefill instances by data-parallel rank, as their bootstrap servers tell them. Known ids are kept
/// until a leg fails: a prefill that restarted has other ids. Concurrent questions to one server are one question.
final class BootstrapIds {
  /// The longest wait for a bootstrap server, which answers from memory.
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final String SILENT = "it did not answer within " + LIMIT.toMillis() + " ms";

  private final EngineClient client;
  private final Scheduler timer;
  private final Map<URI, Mono<TreeMap<Integer, String>>> known = new ConcurrentHashMap<>();

  BootstrapIds(EngineClient client, Scheduler timer) {
    this.client = client;
    this.timer = timer;
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
    return client.get(URI.create(bootstrap + "/query"))
        .timeout(LIMIT, Mono.error(() -> unknown(bootstrap, SILENT)), timer)
        .map(answer -> ids(bootstrap, answer))
        .onErrorMap(failure -> !(failure instanceof RequestFailure),
            failure -> unknown(bootstrap, String.valueOf(failure.getMessage())))
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
    return RequestFailure.ofEngines("engine ids of the prefill are unknown",
        " (bootstrap server " + bootstrap + "): " + why);
  }
}
