package io.penstock.gateway.dialect;

import io.penstock.operator.InTurn;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import reactor.core.publisher.Flux;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Asks a dialect once for each choice, and for each prompt of a list where one transfer carries one prompt. vLLM gives
/// all children of a request the same transfer parameters: with a list, decode would read the blocks of the first
/// prompt for all of them; with `n` choices, prefill would free the blocks after the first reader.
///
/// Choices keep the numbers that one engine would give them (prompt times n plus choice), seeds go up by one from
/// choice to choice as in vLLM, and usage counts a prompt once.
final class SplitDialect implements Dialect {
  /// The largest number of parts of one request.
  static final int MAX_PARTS = 1024;
  /// Parts of one request that run at once.
  private static final int CONCURRENCY = 16;
  /// Chunks of a part that are read ahead of the client.
  private static final int PREFETCH = 4;

  private final Dialect each;
  private final Predicate<EnginePair> splitsPrompts;

  /// @param splitsPrompts whether the engines of a pair need a list of prompts split, too
  SplitDialect(Dialect each, Predicate<EnginePair> splitsPrompts) {
    this.each = each;
    this.splitsPrompts = splitsPrompts;
  }

  @Override
  public Flux<AnswerEvent> answer(EngineRequest request, EnginePair pair) {
    return Flux.defer(() -> {
      int choices = choices(request);
      int prompts = splitsPrompts.test(pair) ? request.prompts() : 1;
      if (choices == 1 && prompts == 1) {
        return each.answer(request, pair);
      }
      if ((long) choices * prompts > MAX_PARTS) {
        throw RequestFailure.ofRequest(
            "prompts times n must be at most " + MAX_PARTS + " (was " + (long) choices * prompts + ")", "n");
      }
      List<Part> parts = parts(request, prompts, choices);
      return request.isStream() ? chunks(pair, parts) : whole(pair, parts);
    });
  }

  private Flux<AnswerEvent> chunks(EnginePair pair, List<Part> parts) {
    MergedChunks merged = new MergedChunks();
    return InTurn.of(Flux.fromIterable(parts)
        .flatMap(part -> each.answer(part.request(), pair)
            .<AnswerEvent>handle((event, sink) -> {
              if (event instanceof AnswerEvent.Chunk chunk) {
                AnswerEvent.Chunk changed = merged.take(chunk, part);
                if (changed != null) {
                  sink.next(changed);
                }
              }
            }), CONCURRENCY, PREFETCH),
        Flux.defer(merged::usage));
  }

  private Flux<AnswerEvent> whole(EnginePair pair, List<Part> parts) {
    return Flux.fromIterable(parts)
        .flatMapSequential(part -> each.answer(part.request(), pair).ofType(AnswerEvent.Whole.class), CONCURRENCY, 1)
        .collectList().<AnswerEvent>map(answers -> new AnswerEvent.Whole(merge(parts, answers))).flux();
  }

  private static ObjectNode merge(List<Part> parts, List<AnswerEvent.Whole> answers) {
    ObjectNode merged = answers.getFirst().body();
    List<JsonNode> choices = new ArrayList<>();
    UsageSum usage = new UsageSum();
    for (int i = 0; i < answers.size(); i++) {
      ObjectNode body = answers.get(i).body();
      Part part = parts.get(i);
      body.path("choices").forEach(choice -> choices.add(part.numbered(choice)));
      usage.add(body.path("usage"), part.first());
    }
    choices.sort(Comparator.comparingInt(choice -> choice.path("index").asInt(0)));
    merged.putArray("choices").addAll(choices);
    merged.set("usage", usage.total());
    return merged;
  }

  private static int choices(EngineRequest request) {
    JsonNode n = request.body().path("n");
    if (n.isMissingNode() || n.isNull()) {
      return 1;
    }
    if (!n.isInt() || n.asInt() < 1) {
      throw RequestFailure.ofRequest("n must be a whole number of at least 1 (was " + n + ")", "n");
    }
    return n.asInt();
  }

  private static List<Part> parts(EngineRequest request, int prompts, int choices) {
    List<Part> parts = new ArrayList<>(prompts * choices);
    for (int prompt = 0; prompt < prompts; prompt++) {
      for (int choice = 0; choice < choices; choice++) {
        EngineRequest part = part(request, prompts > 1 ? prompt : -1, choices, choice);
        parts.add(new Part(part, prompt * choices + choice, choices, choice == 0));
      }
    }
    return parts;
  }

  private static EngineRequest part(EngineRequest request, int prompt, int choices, int choice) {
    ObjectNode body = request.copy();
    if (prompt >= 0) {
      body.set("prompt", request.body().path("prompt").path(prompt));
    }
    if (choices > 1) {
      body.remove("n");
      if (body.path("seed").isIntegralNumber()) {
        body.put("seed", body.path("seed").asLong() + choice);
      }
    }
    return request.withBody(body);
  }

  /// One part.
  ///
  /// @param request what is asked
  /// @param offset the number of its first choice
  /// @param stride the distance to the number of its next choice
  /// @param first whether it asks for the first choice of its prompts
  record Part(EngineRequest request, int offset, int stride, boolean first) {
    /// Gives a choice its number in the whole answer.
    JsonNode numbered(JsonNode choice) {
      return choice instanceof ObjectNode object
          ? object.put("index", object.path("index").asInt(0) * stride + offset)
          : choice;
    }
  }
}
