package io.penstock.gateway.engines;

import java.util.List;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The prefill side of vLLM's `MooncakeConnector`, with its bootstrap server. A transfer whose prefill ends otherwise
/// than by length is cancelled: its reader waits for ever.
public final class MooncakePrefill extends ScriptedEngine {
  private final KvNetwork network;
  private volatile List<String> engines;
  private volatile boolean registered;

  /// @param engines the engine ids by data-parallel rank
  public MooncakePrefill(KvNetwork network, List<String> engines) {
    this.network = network;
    this.engines = List.copyOf(engines);
  }

  /// The ranks register at the bootstrap server. Until then it answers 503.
  public MooncakePrefill register() {
    registered = true;
    return this;
  }

  /// Another process with other engine ids.
  public void restart(List<String> others) {
    engines = List.copyOf(others);
  }

  List<String> engines() {
    return engines;
  }

  @Override
  Mono<Reply> complete(Ask ask) {
    JsonNode transfer = ask.transfer();
    Refusal.unless(transfer.path("do_remote_decode").asBoolean(false), "do_remote_decode of a prefill must be true");
    String id = transfer.path("transfer_id").asString("");
    Refusal.unless(!id.isEmpty(), "Missing transfer_id in kv_transfer_params from router!");
    ask.requestId();
    int rank = rank(ask.call().header("X-data-parallel-rank"));
    ask.requireOne();
    Refusal.unless(!ask.stream(), "prefill must not stream");
    boolean stops = ask.most() > 1 || ask.body().hasNonNull("stop") || !ask.body().path("ignore_eos").asBoolean(false);
    String key = key(engines.get(rank), id);
    return pace().then(Mono.fromSupplier(() -> {
      ObjectNode answer = new Answers(ask, Model::cached).whole();
      if (stops) {
        answer.path("choices").forEach(choice -> ((ObjectNode) choice).put("finish_reason", "stop"));
      } else {
        network.offer(key, ask.prompts().getFirst());
      }
      return Reply.json(200, answer);
    }));
  }

  @Override
  Mono<Reply> other(Call call) {
    if (!call.path().equals("/query")) {
      return super.other(call);
    }
    if (!registered) {
      return Mono.error(new Refusal(503, "no worker has registered"));
    }
    ObjectNode ranks = Tree.object();
    for (int rank = 0; rank < engines.size(); rank++) {
      ranks.putObject(Integer.toString(rank)).put("engine_id", engines.get(rank)).putObject("worker_addr");
    }
    return Mono.just(Reply.json(200, ranks));
  }

  static String key(String engine, String transfer) {
    return engine + "/" + transfer;
  }

  private int rank(String header) {
    Refusal.unless(header.matches("[0-9]{1,3}") && Integer.parseInt(header) < engines.size(),
        "X-data-parallel-rank must be a rank (was " + header + ")");
    return Integer.parseInt(header);
  }
}
