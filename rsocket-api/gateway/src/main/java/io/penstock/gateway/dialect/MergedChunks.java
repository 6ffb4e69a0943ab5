package io.penstock.gateway.dialect;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The chunks of several parts as those of one stream: one id, choices by their numbers, and one chunk of usage at the
/// end. Chunks of different parts come from different event loops.
final class MergedChunks {
  private final AtomicReference<@Nullable String> id = new AtomicReference<>();
  private final UsageSum usage = new UsageSum();
  private @Nullable ObjectNode last;

  /// The chunk for the client, or null when it is kept for the end.
  AnswerEvent.@Nullable Chunk take(AnswerEvent.Chunk chunk, SplitDialect.Part part) {
    if (!(Json.tree(chunk.json()) instanceof ObjectNode tree)) {
      return chunk;
    }
    unify(tree);
    JsonNode choices = tree.path("choices");
    if (choices.isEmpty() && tree.path("usage").isObject()) {
      keep(tree, part.first());
      return null;
    }
    choices.forEach(part::numbered);
    return new AnswerEvent.Chunk(Json.text(tree));
  }

  /// The chunk of usage, or empty where no part had one.
  synchronized Mono<AnswerEvent> usage() {
    if (last == null) {
      return Mono.empty();
    }
    last.set("usage", usage.total());
    return Mono.just(new AnswerEvent.Chunk(Json.text(last)));
  }

  private synchronized void keep(ObjectNode tree, boolean first) {
    usage.add(tree.path("usage"), first);
    last = tree;
  }

  private void unify(ObjectNode tree) {
    String own = tree.path("id").asString("");
    String one = id.get() == null && id.compareAndSet(null, own) ? own : id.get();
    tree.put("id", one);
  }
}
