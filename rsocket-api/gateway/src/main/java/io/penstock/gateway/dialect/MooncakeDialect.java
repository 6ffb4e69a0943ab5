package io.penstock.gateway.dialect;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.node.ObjectNode;

/// Both legs at once, paired by a transfer id. Prefill gets the data-parallel rank in a header; decode gets the engine
/// id of that rank and the address of the bootstrap server that told it.
///
/// Source: vLLM, `examples/disaggregated/mooncake_connector/mooncake_connector_proxy.py` and `mooncake_connector.py`.
final class MooncakeDialect implements Dialect {
  static final String RANK = "X-data-parallel-rank";
  private static final int BOOTSTRAP_PORT = 8998;

  private final Legs legs;
  private final BootstrapIds engines;
  private final Scheduler timer;
  private final AtomicInteger turn = new AtomicInteger();

  MooncakeDialect(Legs legs, BootstrapIds engines, Scheduler timer) {
    this.legs = legs;
    this.engines = engines;
    this.timer = timer;
  }

  @Override
  public Flux<AnswerEvent> answer(EngineRequest request, EnginePair pair) {
    return Flux.defer(() -> {
      URI bootstrap = bootstrapOf(pair.requirePrefill());
      return engines.of(bootstrap).flatMapMany(known -> both(request, pair, bootstrap, known))
          .doOnError(failure -> engines.forget(bootstrap));
    });
  }

  static URI bootstrapOf(EngineAddress prefill) {
    return URI.create("http://" + prefill.setting(EngineAddress.BOOTSTRAP_HOST).orElse(prefill.host()) + ":"
        + prefill.number(EngineAddress.BOOTSTRAP_PORT, BOOTSTRAP_PORT));
  }

  private Flux<AnswerEvent> both(EngineRequest request, EnginePair pair, URI bootstrap,
      TreeMap<Integer, String> known) {
    List<Integer> ranks = new ArrayList<>(known.keySet());
    int rank = ranks.get(Math.floorMod(turn.getAndIncrement(), ranks.size()));
    String id = legs.nextId(request);
    Leg plain = legs.leg(Leg.Role.PREFILL, pair.requirePrefill(), request, id, PrefillBody.of(request, send(id)));
    Map<String, String> headers = new HashMap<>(plain.headers());
    headers.put(RANK, Integer.toString(rank));
    Leg prefill = new Leg(plain.role(), plain.engine(), plain.path(), headers, plain.body());
    ObjectNode body = request.copy();
    body.set("kv_transfer_params", receive(id, bootstrap, String.valueOf(known.get(rank))));
    Leg decode = legs.leg(Leg.Role.DECODE, pair.decode(), request, id, body);
    return TwoLegs.join(Mono.empty(), legs.prefill(prefill).doOnNext(answer -> requireLength(prefill, answer)),
        legs.decode(decode), timer);
  }

  private static ObjectNode send(String id) {
    return Json.object().put("do_remote_decode", true).put("do_remote_prefill", false).put("transfer_id", "xfer-" + id);
  }

  private static ObjectNode receive(String id, URI bootstrap, String engine) {
    return Json.object().put("do_remote_decode", false).put("do_remote_prefill", true)
        .put("remote_bootstrap_addr", bootstrap.toString()).put("remote_engine_id", engine)
        .put("transfer_id", "xfer-" + id);
  }

  /// A prefill that ended otherwise has cancelled its transfer, and decode would wait until its time is over.
  private static void requireLength(Leg prefill, ObjectNode answer) {
    String reason = answer.path("choices").path(0).path("finish_reason").asString("");
    if (!reason.equals("length")) {
      throw LegFailure.wrong(prefill, "must finish by length, otherwise it cancels the transfer (was " + reason + ")");
    }
  }
}
