package io.penstock.gateway.engines;

import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The decode side of vllm-ascend's `MooncakeLayerwiseConnector`: it reserves blocks, reports each child to the
/// metaserver, and does not read how a report was answered.
public final class LayerwiseDecode extends ScriptedEngine {
  static final String ENGINE = "decode-engine";

  private final KvNetwork network;
  private final BiFunction<URI, ObjectNode, Mono<Integer>> poster;
  private final List<Integer> answers = new CopyOnWriteArrayList<>();

  /// @param poster posts a report and emits the status of its answer
  public LayerwiseDecode(KvNetwork network, BiFunction<URI, ObjectNode, Mono<Integer>> poster) {
    this.network = network;
    this.poster = poster;
  }

  /// The statuses that reports were answered.
  public List<Integer> answers() {
    return answers;
  }

  @Override
  Mono<Reply> complete(Ask ask) {
    JsonNode transfer = ask.transfer();
    Refusal.unless(transfer.path("do_remote_prefill").asBoolean(false), "do_remote_prefill of a decode must be true");
    String address = transfer.path("metaserver").asString("");
    Refusal.unless(address.endsWith("/v1/metaserver"), "metaserver is missing");
    Refusal.unless(!address.contains("//0.0.0.0") && !address.contains("//[::]"), "metaserver must not be a wildcard");
    Refusal.unless(ask.choices() == 1, "children of n choices are unknown to every metaserver");
    List<String> children = children(ask);
    Mono<Void> received = Flux.range(0, children.size())
        .flatMap(i -> sameAs(network.receive(children.get(i)), ask.prompts().get(i))).then();
    return generateAfter(ask, pace().then(Mono.defer(() -> {
      children.forEach(network::reserve);
      var reports = Flux.fromIterable(children)
          .flatMap(child -> poster.apply(URI.create(address), report(child)).onErrorComplete()).subscribe(answers::add);
      return received.doOnCancel(() -> {
        reports.dispose();
        children.forEach(network::abandon);
      });
    })));
  }

  static List<String> children(Ask ask) {
    String id = ask.requestId();
    return ask.chat()
        ? List.of("chatcmpl-" + id)
        : IntStream.range(0, ask.prompts().size()).mapToObj(i -> "cmpl-" + id + "-" + i).toList();
  }

  private static ObjectNode report(String child) {
    ObjectNode report = Tree.object().put("request_id", child).put("do_remote_prefill", false)
        .put("do_remote_decode", true).put("remote_block_size", 16).put("remote_engine_id", ENGINE)
        .put("remote_host", "10.1.1.2").put("remote_port", 30_000).put("remote_tp_size", 1).put("remote_pcp_size", 1)
        .put("remote_dcp_size", 1).put("remote_cached_tokens", 0);
    report.putArray("token_ids");
    report.putArray("remote_block_ids").addArray().add(child.hashCode());
    return report;
  }
}
