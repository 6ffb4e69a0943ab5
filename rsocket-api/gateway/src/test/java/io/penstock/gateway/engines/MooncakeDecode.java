package io.penstock.gateway.engines;

import java.util.List;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/// The decode side of vLLM's `MooncakeConnector`.
public final class MooncakeDecode extends ScriptedEngine {
  private final KvNetwork network;
  private final MooncakePrefill prefill;
  private final Supplier<String> bootstrap;

  /// @param bootstrap the address of the prefill's bootstrap server
  public MooncakeDecode(KvNetwork network, MooncakePrefill prefill, Supplier<String> bootstrap) {
    this.network = network;
    this.prefill = prefill;
    this.bootstrap = bootstrap;
  }

  @Override
  Mono<Reply> complete(Ask ask) {
    ask.requestId();
    JsonNode transfer = ask.transfer();
    Refusal.unless(transfer.path("do_remote_prefill").asBoolean(false), "do_remote_prefill of a decode must be true");
    for (String name : List.of("remote_engine_id", "remote_bootstrap_addr", "transfer_id")) {
      Refusal.unless(!transfer.path(name).asString("").isEmpty(),
          "Got invalid KVTransferParams: " + name + " is missing");
    }
    Refusal.unless(transfer.path("remote_bootstrap_addr").asString().equals(bootstrap.get()),
        "no bootstrap server at " + transfer.path("remote_bootstrap_addr").asString());
    String engine = transfer.path("remote_engine_id").asString();
    Refusal.unless(prefill.engines().contains(engine), "engine " + engine + " is unknown");
    ask.requireOne();
    String key = MooncakePrefill.key(engine, transfer.path("transfer_id").asString());
    return generateAfter(ask, sameAs(network.receive(key), ask.prompts().getFirst()));
  }
}
