package io.penstock.gateway.engines;

import java.util.List;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/// The decode side of vLLM's `NixlConnector`. Where the real one warns and computes the prompt again, this one refuses.
public final class NixlPullDecode extends ScriptedEngine {
  private final KvNetwork network;
  private final List<String> engines;

  /// @param engines the ids of the prefill engines that it reaches
  public NixlPullDecode(KvNetwork network, List<String> engines) {
    this.network = network;
    this.engines = engines;
  }

  @Override
  Mono<Reply> complete(Ask ask) {
    ask.requestId();
    JsonNode transfer = ask.transfer();
    Refusal.unless(transfer.path("do_remote_prefill").asBoolean(false), "do_remote_prefill of a decode must be true");
    for (String name : List.of("remote_engine_id", "remote_request_id", "remote_host", "remote_port",
        "remote_block_ids")) {
      Refusal.unless(transfer.hasNonNull(name), "Got invalid KVTransferParams: " + name + " is missing");
    }
    Refusal.unless(engines.contains(transfer.path("remote_engine_id").asString()),
        "engine " + transfer.path("remote_engine_id").asString() + " is unknown");
    ask.requireOne();
    String id = transfer.path("remote_request_id").asString();
    Refusal.unless(network.holds(id), "prefill holds no blocks for " + id);
    return generateAfter(ask, sameAs(network.receive(id), ask.prompts().getFirst()));
  }
}
