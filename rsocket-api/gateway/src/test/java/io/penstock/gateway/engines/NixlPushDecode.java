package io.penstock.gateway.engines;

import java.util.List;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/// The decode side of vLLM's `NixlPushConnector`: it registers its blocks at the coordinates that it was given.
public final class NixlPushDecode extends ScriptedEngine {
  private final KvNetwork network;
  private final List<String> engines;

  /// @param engines the ids of the prefill engines that it reaches
  public NixlPushDecode(KvNetwork network, List<String> engines) {
    this.network = network;
    this.engines = engines;
  }

  @Override
  Mono<Reply> complete(Ask ask) {
    ask.requestId();
    JsonNode transfer = ask.transfer();
    Refusal.unless(transfer.path("do_remote_prefill").asBoolean(false), "do_remote_prefill of a decode must be true");
    for (String name : List.of("remote_engine_id", "remote_host", "remote_port", "tp_size", "transfer_id")) {
      Refusal.unless(transfer.hasNonNull(name), name + " is missing");
    }
    String engine = transfer.path("remote_engine_id").asString();
    Refusal.unless(engines.contains(engine) && transfer.path("remote_host").asString().equals(NixlPullPrefill.HOST)
        && transfer.path("remote_port").asInt() == NixlPullPrefill.PORT, "no handshake with engine " + engine);
    ask.requireOne();
    String key = engine + "/" + transfer.path("transfer_id").asString();
    return generateAfter(ask, sameAs(network.receive(key), ask.prompts().getFirst()));
  }
}
