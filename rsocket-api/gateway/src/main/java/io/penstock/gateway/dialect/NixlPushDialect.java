package io.penstock.gateway.dialect;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Both legs at once, paired by a transfer id that is new for each attempt. Decode gets the coordinates of prefill and
/// registers its blocks there; prefill writes into them.
///
/// The coordinates stand in the settings of the prefill instance, or are learned from its first answer: that one
/// request sends its legs one after the other, which the engines allow, because either side may come first. Learned
/// coordinates are forgotten when a leg fails.
///
/// Source: vLLM, `docs/design/nixl_kv_push_connector.md`, `disagg_proxy_pushconnector_demo.py`,
/// `nixl/push_scheduler.py`.
final class NixlPushDialect implements Dialect {
  private static final String TRANSFER = "kv_transfer_params";
  private static final List<String> REQUIRED = List.of("remote_engine_id", "remote_host", "remote_port", "tp_size");

  private final Legs legs;
  private final Scheduler timer;
  private final Map<URI, ObjectNode> learned = new ConcurrentHashMap<>();

  NixlPushDialect(Legs legs, Scheduler timer) {
    this.legs = legs;
    this.timer = timer;
  }

  @Override
  public Flux<AnswerEvent> answer(EngineRequest request, EnginePair pair) {
    return Flux.defer(() -> {
      EngineAddress engine = pair.requirePrefill();
      String id = legs.nextId(request);
      ObjectNode transfer = NixlPullDialect.transferOfPrefill().put("transfer_id", "xfer-" + id);
      Leg prefill = legs.leg(Leg.Role.PREFILL, engine, request, id, PrefillBody.of(request, transfer));
      ObjectNode known = coordinatesOf(engine);
      Flux<AnswerEvent> answer = known != null ? both(request, pair, id, prefill, known)
          : legs.prefill(prefill).flatMapMany(first -> after(request, pair, id, prefill, first));
      return answer.doOnError(failure -> learned.remove(engine.url()));
    });
  }

  private @Nullable ObjectNode coordinatesOf(EngineAddress engine) {
    ObjectNode told = settingsOf(engine);
    return told != null ? told : learned.get(engine.url());
  }

  private static @Nullable ObjectNode settingsOf(EngineAddress engine) {
    String id = engine.settings().get(EngineAddress.ENGINE_ID);
    return id == null ? null
        : Json.object().put("remote_engine_id", id)
            .put("remote_host", engine.setting(EngineAddress.KV_HOST).orElse(engine.host()))
            .put("remote_port", engine.number(EngineAddress.KV_PORT, 5600))
            .put("tp_size", engine.number(EngineAddress.TP_SIZE, 1))
            .put("pp_size", engine.number(EngineAddress.PP_SIZE, 1));
  }

  private Flux<AnswerEvent> both(EngineRequest request, EnginePair pair, String id, Leg prefill, ObjectNode known) {
    return TwoLegs.join(Mono.empty(), legs.prefill(prefill), decode(request, pair, id, known), timer);
  }

  private Flux<AnswerEvent> after(EngineRequest request, EnginePair pair, String id, Leg prefill, ObjectNode answer) {
    JsonNode told = answer.path(TRANSFER);
    ObjectNode coordinates = Json.object();
    for (String name : REQUIRED) {
      if (told.path(name).isMissingNode() || told.path(name).isNull()) {
        return Flux.error(LegFailure.wrong(prefill,
            "answered without " + TRANSFER + "." + name + "; it must run with the NIXL push connector"));
      }
      coordinates.set(name, told.get(name));
    }
    coordinates.put("pp_size", told.path("pp_size").asInt(1));
    learned.put(prefill.engine().url(), coordinates);
    return decode(request, pair, id, coordinates)
        .map(event -> CachedTokens.isIn(event) ? CachedTokens.correct(event, answer) : event);
  }

  private Flux<AnswerEvent> decode(EngineRequest request, EnginePair pair, String id, ObjectNode coordinates) {
    ObjectNode transfer = Json.object().put("do_remote_decode", false).put("do_remote_prefill", true);
    transfer.setAll(coordinates);
    transfer.put("remote_request_id", id);
    transfer.put("transfer_id", "xfer-" + id);
    ObjectNode body = request.copy();
    body.set(TRANSFER, transfer);
    return legs.decode(legs.leg(Leg.Role.DECODE, pair.decode(), request, id, body));
  }
}
