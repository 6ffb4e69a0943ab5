package io.penstock.examples.load;

import io.penstock.node.text.Reason;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Prefills and decodes without a gateway: the generator sends each chat to a prefill, then to a decode, in turn. This
/// is what a gateway is compared with.
final class PairsTarget implements ChatTarget {
  private final List<HttpTarget> prefills;
  private final List<HttpTarget> decodes;
  private final LongSupplier nanos;
  private final AtomicInteger next = new AtomicInteger();

  PairsTarget(List<HttpTarget> prefills, List<HttpTarget> decodes, LongSupplier nanos) {
    this.prefills = List.copyOf(prefills);
    this.decodes = List.copyOf(decodes);
    this.nanos = nanos;
  }

  @Override
  public ChatReply chat(ObjectNode body) throws InterruptedException {
    int number = next.getAndIncrement();
    long began = nanos.getAsLong();
    ObjectNode first = body.deepCopy().put("max_tokens", 1).put("stream", false);
    first.remove("stream_options");
    first.putObject("kv_transfer_params").put("do_remote_decode", true).put("do_remote_prefill", false);
    JsonNode prefilled;
    try {
      prefilled = prefills.get(Math.floorMod(number, prefills.size())).whole(first);
    } catch (IOException e) {
      return ChatReply.failed(0, Reason.of(e));
    }
    ObjectNode second = body.deepCopy();
    second.set("kv_transfer_params", prefilled.path("kv_transfer_params"));
    long waited = nanos.getAsLong() - began;
    ChatReply reply = decodes.get(Math.floorMod(number, decodes.size())).chat(second);
    int cached = prefilled.at("/usage/prompt_tokens_details/cached_tokens").asInt(0);
    return new ChatReply(reply.status(), reply.text(), reply.finish(), reply.error(), reply.promptTokens(), cached,
        reply.tokens(), reply.firstNanos() + waited, reply.restNanos());
  }
}
