package io.penstock.gateway.engines;

import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ObjectNode;

/// The prefill side of vLLM's `NixlPushConnector`. Pairing by request id, which is deprecated, is not offered.
public final class NixlPushPrefill extends ScriptedEngine {
  private final KvNetwork network;
  private final String engine;

  public NixlPushPrefill(KvNetwork network, String engine) {
    this.network = network;
    this.engine = engine;
  }

  @Override
  Mono<Reply> complete(Ask ask) {
    ask.requestId();
    NixlPullPrefill.requireSide(ask);
    String id = ask.transfer().path("transfer_id").asString("");
    Refusal.unless(!id.isEmpty(), "transfer_id is missing");
    return pace().then(Mono.fromSupplier(() -> {
      network.offer(engine + "/" + id, ask.prompts().getFirst());
      ObjectNode answer = new Answers(ask, Model::cached).whole();
      answer.set("kv_transfer_params", NixlPullPrefill.coordinates(engine).put("transfer_mode", "push"));
      return Reply.json(200, answer);
    }));
  }
}
