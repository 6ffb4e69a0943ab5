package io.penstock.gateway.dialect;

import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.node.ObjectNode;

/// Decode first. It reserves blocks and reports them to the [Metaserver]; then the prefill leg is sent with the report
/// as its transfer parameters, and prefill writes each layer as it is computed.
///
/// A list of prompts has one prefill where prefill reads the parameters of each child from `batch_kv_transfer_params`.
/// `MooncakeLayerwiseConnector` does not at the commit below: it would write all prompts into the blocks of the first.
/// So the setting `prompt-list=batch` of a prefill must ask for it, and a list is split otherwise.
///
/// A decode engine does not read how its report was answered, so the failure of a prefill ends the decode leg here.
///
/// Source: vllm-ascend, `examples/disaggregated_prefill_v1/load_balance_proxy_layerwise_server_example.py` and
/// `mooncake_layerwise_connector.py`, 182b75ea.
final class LayerwiseDialect implements Dialect {
  private static final String TRANSFER = "kv_transfer_params";
  private static final Set<String> WILDCARDS = Set.of("0.0.0.0", "[::]", "[::0]", "null");

  private final Legs legs;
  private final Metaserver metaserver;
  private final URI address;
  private final Scheduler timer;

  /// @param address the URL of the metaserver as decode engines reach it
  LayerwiseDialect(Legs legs, Metaserver metaserver, URI address, Scheduler timer) {
    this.legs = legs;
    this.metaserver = metaserver;
    this.address = address;
    this.timer = timer;
  }

  @Override
  public Flux<AnswerEvent> answer(EngineRequest request, EnginePair pair) {
    return Flux.defer(() -> {
      EngineAddress prefill = pair.requirePrefill();
      requireReachable();
      String id = legs.nextId(request);
      return Flux.using(() -> metaserver.expect(children(request, id)),
          expected -> both(request, pair, prefill, id, expected), Metaserver.Expected::close);
    });
  }

  private Flux<AnswerEvent> both(EngineRequest request, EnginePair pair, EngineAddress engine, String id,
      Metaserver.Expected expected) {
    Mono<ObjectNode> prefill = expected.transfer().flatMap(transfer -> prefill(request, engine, id, transfer))
        .doOnSuccess(answer -> expected.ended(null)).doOnError(expected::ended);
    ObjectNode body = request.copy();
    body.set(TRANSFER, Json.object().put("do_remote_decode", false).put("do_remote_prefill", true)
        .put("metaserver", address.toString()));
    Flux<AnswerEvent> decode = legs.decode(legs.leg(Leg.Role.DECODE, pair.decode(), request, id, body));
    return TwoLegs.join(expected.transfer().then(), prefill, decode, timer);
  }

  private Mono<ObjectNode> prefill(EngineRequest request, EngineAddress engine, String id, ObjectNode transfer) {
    return Mono.defer(() -> {
      ObjectNode body = PrefillBody.of(request, transfer).put("min_tokens", 1);
      return legs.prefill(legs.leg(Leg.Role.PREFILL, engine, request, id, body));
    });
  }

  /// Engines cannot post to an address that means "all of mine", or to a port that is not known yet.
  private void requireReachable() {
    if (WILDCARDS.contains(String.valueOf(address.getHost())) || address.getPort() == 0) {
      throw RequestFailure.ofEngines("metaserver must be a URL that decode engines reach", " (was " + address + ")");
    }
  }

  static boolean readsBatches(EnginePair pair) {
    return pair.requirePrefill().setting(EngineAddress.PROMPT_LIST).filter(EngineAddress.BATCH::equals).isPresent();
  }

  static List<String> children(EngineRequest request, String id) {
    return request.isChat()
        ? List.of("chatcmpl-" + id)
        : IntStream.range(0, request.prompts()).mapToObj(prompt -> "cmpl-" + id + "-" + prompt).toList();
  }
}
