package io.penstock.gateway.engines;

import java.util.List;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/// The prefill side of vllm-ascend's `MooncakeLayerwiseConnector`: it writes into blocks that decode has reserved, so
/// it must come second, with what decode reported for each child.
public final class LayerwisePrefill extends ScriptedEngine {
  private final KvNetwork network;
  private volatile boolean readsBatches;

  public LayerwisePrefill(KvNetwork network) {
    this.network = network;
  }

  /// Makes it read `batch_kv_transfer_params`, as the connector `sfa_pd_rd2h` does.
  public LayerwisePrefill readingBatches() {
    readsBatches = true;
    return this;
  }

  @Override
  Mono<Reply> complete(Ask ask) {
    ask.requirePrefillOnly();
    Refusal.unless(ask.choices() == 1, "n of a prefill must be 1");
    List<String> children = LayerwiseDecode.children(ask);
    Refusal.unless(readsBatches || children.size() == 1, "all children would be written into the blocks of the first");
    JsonNode transfer = ask.transfer();
    for (String child : children) {
      JsonNode own = children.size() == 1 ? transfer : transfer.path("batch_kv_transfer_params").path(child);
      Refusal.unless(own.path("do_remote_decode").asBoolean(false), "transfer parameters of " + child + " are missing");
      Refusal.unless(own.path("remote_block_ids").path(0).path(0).asInt(0) == child.hashCode(),
          "blocks of " + child + " are those of another child");
      Refusal.unless(own.path("remote_engine_id").asString("").equals(LayerwiseDecode.ENGINE), "engine is unknown");
      Refusal.unless(network.isReserved(child), "decode has reserved no blocks for " + child);
    }
    return pace().then(Mono.fromSupplier(() -> {
      for (int i = 0; i < children.size(); i++) {
        network.offer(children.get(i), ask.prompts().get(i));
      }
      return Reply.json(200, new Answers(ask, Model::cached).whole());
    }));
  }
}
