package io.penstock.gateway.engines;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Answers in OpenAI's forms. A chat with tools is answered by a call of the first one, until a result of it is there.
/// A prompt with "hold" gets two tokens and then no more.
public final class Answers {
  /// The arguments of a call, in the pieces in which they are streamed.
  static final List<String> ARGUMENTS = List.of("{\"city\":", " \"Oslo\"}");
  private static final int HELD_AFTER = 3;

  private final Ask ask;
  private final ToIntFunction<String> cached;

  /// @param cached the figure of cached tokens of a prompt
  Answers(Ask ask, ToIntFunction<String> cached) {
    this.ask = ask;
    this.cached = cached;
  }

  /// What a client must get for a body, whichever engines answer: the choices with index, text and reason.
  public static List<String> expected(JsonNode body, boolean chat) {
    Ask ask = Ask.of(new Call("POST", "", Map.of(), body), chat);
    List<String> all = new ArrayList<>();
    ObjectNode whole = new Answers(ask, Model::cached).whole();
    whole.path("choices").forEach(choice -> all.add(choice.path("index").asInt() + ":"
        + (chat ? choice.path("message").path("content").asString() : choice.path("text").asString()) + ":"
        + choice.path("finish_reason").asString()));
    return all;
  }

  /// The usage a client must get.
  public static JsonNode expectedUsage(JsonNode body, boolean chat) {
    return new Answers(Ask.of(new Call("POST", "", Map.of(), body), chat), Model::cached).usage();
  }

  ObjectNode whole() {
    ObjectNode answer = head(false);
    var choices = answer.putArray("choices");
    for (int index = 0; index < ask.prompts().size() * ask.choices(); index++) {
      ObjectNode choice = choices.addObject().put("index", index);
      String text = tokens(index).stream().map(Model::text).collect(Collectors.joining());
      if (calls()) {
        choice.putObject("message").put("role", "assistant").putNull("content").putArray("tool_calls")
            .add(call(String.join("", ARGUMENTS)));
      } else if (ask.chat()) {
        choice.putObject("message").put("role", "assistant").put("content", text);
      } else {
        choice.put("text", text);
      }
      choice.put("finish_reason", calls() ? "tool_calls" : Model.reason(ask.most()));
    }
    answer.set("usage", usage());
    return answer;
  }

  /// @param pace completes when the next token is there
  Flux<JsonNode> chunks(Mono<Void> pace) {
    List<JsonNode> all = new ArrayList<>();
    int choices = ask.prompts().size() * ask.choices();
    for (int index = 0; ask.chat() && index < choices; index++) {
      all.add(chunk(index, -1, null, true));
    }
    List<List<Integer>> tokens = new ArrayList<>();
    for (int index = 0; index < choices; index++) {
      tokens.add(tokens(index));
    }
    if (calls()) {
      all.add(callChunk(call(""), null));
      ARGUMENTS.forEach(piece -> all.add(callChunk(arguments(piece), null)));
      all.add(callChunk(null, "tool_calls"));
      tokens.replaceAll(words -> List.of());
    }
    for (int place = 0; place < tokens.getFirst().size(); place++) {
      for (int index = 0; index < choices; index++) {
        boolean last = place == tokens.get(index).size() - 1;
        all.add(chunk(index, tokens.get(index).get(place), last ? Model.reason(ask.most()) : null,
            !ask.chat() && place == 0));
      }
    }
    if (ask.includesUsage()) {
      ObjectNode last = head(true);
      last.putArray("choices");
      last.set("usage", usage());
      all.add(last);
    }
    Flux<JsonNode> paced = Flux.fromIterable(all).concatMap(chunk -> pace.thenReturn(chunk), 1);
    return isHeld() ? paced.take(HELD_AFTER).concatWith(Mono.never()) : paced;
  }

  boolean isHeld() {
    return ask.prompts().getFirst().contains("hold");
  }

  private boolean calls() {
    JsonNode messages = ask.body().path("messages");
    return ask.chat() && !ask.body().path("tools").isEmpty()
        && !messages.path(messages.size() - 1).path("role").asString("").equals("tool");
  }

  private ObjectNode call(String arguments) {
    ObjectNode call = Tree.object().put("id", "call_1").put("type", "function");
    call.putObject("function")
        .put("name", ask.body().path("tools").path(0).path("function").path("name").asString(""))
        .put("arguments", arguments);
    return call;
  }

  private static ObjectNode arguments(String piece) {
    ObjectNode call = Tree.object();
    call.putObject("function").put("arguments", piece);
    return call;
  }

  private ObjectNode callChunk(@Nullable ObjectNode call, @Nullable String reason) {
    ObjectNode chunk = head(true);
    ObjectNode choice = chunk.putArray("choices").addObject().put("index", 0);
    ObjectNode delta = choice.putObject("delta");
    if (call != null) {
      delta.putArray("tool_calls").add(call.put("index", 0));
    }
    choice.put("finish_reason", reason);
    return chunk;
  }

  private List<Integer> tokens(int index) {
    int choice = index % ask.choices();
    long seed = ask.body().has("seed") ? ask.seed() + choice : 0;
    return Model.tokens(ask.prompts().get(index / ask.choices()), seed, ask.most());
  }

  /// @param token -1 for none
  /// @param first whether it is the first one of its choice: it names the prompt, if the client asks for ids
  private ObjectNode chunk(int index, int token, @Nullable String reason, boolean first) {
    ObjectNode chunk = head(true);
    ObjectNode choice = chunk.putArray("choices").addObject().put("index", index);
    if (ask.chat()) {
      choice.putObject("delta").put(token < 0 ? "role" : "content", token < 0 ? "assistant" : Model.text(token));
    } else {
      choice.put("text", Model.text(token));
    }
    choice.put("finish_reason", reason);
    if (ask.namesTokens()) {
      if (token >= 0) {
        choice.putArray("token_ids").add(token);
      }
      if (first) {
        ArrayNode ids = (ask.chat() ? chunk : choice).putArray("prompt_token_ids");
        Model.ids(ask.prompts().get(index / ask.choices())).forEach(ids::add);
      }
    }
    chunk.putNull("usage");
    return chunk;
  }

  private ObjectNode head(boolean chunk) {
    return Tree.object().put("id", (ask.chat() ? "chatcmpl-" : "cmpl-") + ask.call().header("X-Request-Id"))
        .put("object", ask.chat() ? chunk ? "chat.completion.chunk" : "chat.completion" : "text_completion")
        .put("created", 1).put("model", ask.body().path("model").asString("m"));
  }

  ObjectNode usage() {
    int prompt = ask.prompts().stream().mapToInt(Model::length).sum();
    int completion = 0;
    for (int index = 0; index < ask.prompts().size() * ask.choices(); index++) {
      completion += tokens(index).size();
    }
    ObjectNode usage = Tree.object().put("prompt_tokens", prompt).put("completion_tokens", completion)
        .put("total_tokens", prompt + completion);
    usage.putObject("prompt_tokens_details").put("cached_tokens", ask.prompts().stream().mapToInt(cached).sum());
    return usage;
  }
}
