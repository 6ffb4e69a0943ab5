package io.penstock.gateway.dialect;

import java.util.List;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Prefill first, with one token to generate; what its answer says about its blocks goes to decode, which reads them.
///
/// A decode instance that refuses the connection has not read, so a spare one gets the same leg: it frees the blocks at
/// prefill by reading them, and the prompt is not computed again. A decode instance that failed later may have read,
/// and prefill may have freed the blocks: the leg is not sent twice, because the second reader could read blocks of
/// another request.
///
/// Source: vLLM, `tests/v1/kv_connector/nixl_integration/toy_proxy_server.py` and `nixl/pull_scheduler.py`.
final class NixlPullDialect implements Dialect {
  private static final List<String> UNKNOWN_YET =
      List.of("remote_engine_id", "remote_block_ids", "remote_host", "remote_port");
  private static final String TRANSFER = "kv_transfer_params";

  private final Legs legs;

  NixlPullDialect(Legs legs) {
    this.legs = legs;
  }

  @Override
  public Flux<AnswerEvent> answer(EngineRequest request, EnginePair pair) {
    return Flux.defer(() -> {
      String id = legs.nextId(request);
      Leg prefill =
          legs.leg(Leg.Role.PREFILL, pair.requirePrefill(), request, id, PrefillBody.of(request, transferOfPrefill()));
      return legs.prefill(prefill).flatMapMany(answer -> decode(request, pair, id, prefill, answer));
    });
  }

  static ObjectNode transferOfPrefill() {
    ObjectNode transfer = Json.object();
    transfer.put("do_remote_decode", true);
    transfer.put("do_remote_prefill", false);
    UNKNOWN_YET.forEach(transfer::putNull);
    return transfer;
  }

  private Flux<AnswerEvent> decode(EngineRequest request, EnginePair pair, String id, Leg prefill, ObjectNode answer) {
    JsonNode transfer = answer.path(TRANSFER);
    if (!transfer.isObject()) {
      return Flux.error(
          LegFailure.wrong(prefill, "answered without " + TRANSFER + "; it must run with the NIXL connector"));
    }
    ObjectNode body = request.copy();
    body.set(TRANSFER, transfer);
    Flux<AnswerEvent> attempts = Stream.concat(Stream.of(pair.decode()), pair.spares().stream())
        .map(engine -> legs.decode(legs.leg(Leg.Role.DECODE, engine, request, id, body)))
        .reduce((first, next) -> first.onErrorResume(NixlPullDialect::neverArrived, failure -> next)).orElseThrow();
    return attempts
        .map(event -> CachedTokens.isIn(event) ? CachedTokens.correct(event, answer) : event);
  }

  private static boolean neverArrived(Throwable failure) {
    return failure instanceof LegFailure leg && leg.stage() == LegFailure.Stage.CONNECT;
  }
}
