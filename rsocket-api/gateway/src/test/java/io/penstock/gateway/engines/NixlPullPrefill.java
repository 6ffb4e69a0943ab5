package io.penstock.gateway.engines;

import java.util.List;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The prefill side of vLLM's `NixlConnector`: it holds blocks for the reader that its answer names.
public final class NixlPullPrefill extends ScriptedEngine {
  static final String HOST = "10.1.1.1";
  static final int PORT = 5600;

  private final KvNetwork network;
  private final String engine;

  public NixlPullPrefill(KvNetwork network, String engine) {
    this.network = network;
    this.engine = engine;
  }

  @Override
  Mono<Reply> complete(Ask ask) {
    requireSide(ask);
    String id = "cmpl-" + ask.requestId() + "-0-" + Integer.toHexString(ask.requestId().hashCode());
    return pace().then(Mono.fromSupplier(() -> {
      network.offer(id, ask.prompts().getFirst());
      ObjectNode answer = new Answers(ask, Model::cached).whole();
      answer.set("kv_transfer_params", coordinates(engine).put("remote_request_id", id));
      return Reply.json(200, answer);
    }));
  }

  static void requireSide(Ask ask) {
    JsonNode transfer = ask.transfer();
    Refusal.unless(transfer.path("do_remote_decode").asBoolean(false), "do_remote_decode of a prefill must be true");
    Refusal.unless(!transfer.path("do_remote_prefill").asBoolean(false),
        "do_remote_prefill of a prefill must be false");
    for (String name : List.of("remote_engine_id", "remote_block_ids", "remote_host", "remote_port")) {
      Refusal.unless(!transfer.hasNonNull(name), name + " of a prefill must be null");
    }
    ask.requirePrefillOnly();
    ask.requireOne();
  }

  static ObjectNode coordinates(String engine) {
    ObjectNode told = Tree.object().put("do_remote_prefill", true).put("do_remote_decode", false)
        .put("remote_engine_id", engine).put("remote_host", HOST).put("remote_port", PORT).put("tp_size", 1)
        .put("pp_size", 1);
    told.putArray("remote_block_ids").addArray().add(1).add(2);
    return told;
  }
}
