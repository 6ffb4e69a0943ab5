package io.penstock.gateway.engines;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// An engine that answers `/v1/responses` and `/v1/messages` itself, as vLLM does: the type of an event is the last
/// member of its JSON, and `[DONE]` follows the last event of messages.
public final class FormsEngine extends ScriptedEngine {
  private static final int CACHED = 2;

  private final String model;
  private final Set<String> paths;
  private volatile int cutAfter = Integer.MAX_VALUE;
  private volatile @Nullable JsonNode failure;

  /// @param model its model
  /// @param paths of the forms that it has
  public FormsEngine(String model, Set<String> paths) {
    this.model = model;
    this.paths = paths;
  }

  /// Ends streams after some events, as an engine that dies does.
  ///
  /// @param event the last event; null for none
  public void cut(int events, @Nullable JsonNode event) {
    cutAfter = events;
    failure = event;
  }

  @Override
  String model() {
    return model;
  }

  @Override
  boolean hasForm(String path) {
    return paths.contains(path);
  }

  @Override
  Mono<Reply> complete(Ask ask) {
    return generate(ask, new Answers(ask, Model::cached));
  }

  @Override
  Mono<Reply> own(Call call) {
    boolean messages = call.path().endsWith("messages");
    JsonNode body = call.body();
    if (body.has("unsupported")) {
      throw new Refusal(501, "this kind of tool is not implemented");
    }
    String prompt = messages ? Model.prompts(body, true).getFirst() : body.path("input").asString("");
    List<String> tokens = Model.tokens(prompt, 0, 6).stream().map(Model::text).toList();
    List<ObjectNode> events = messages ? messages(tokens, prompt) : responses(tokens, prompt);
    if (!body.path("stream").asBoolean(false)) {
      return pace()
          .then(Mono.fromSupplier(() -> Reply.json(200, messages
              ? message(String.join("", tokens), prompt)
              : response("completed", String.join("", tokens), prompt))));
    }
    JsonNode last = failure;
    List<JsonNode> sent = new ArrayList<>(events.subList(0, Math.min(events.size(), cutAfter)));
    if (last != null) {
      sent.add(last);
    }
    Flux<String> lines = Flux.fromIterable(sent).concatMap(event -> pace().thenReturn(event), 1)
        .map(event -> "event: " + event.path("type").asString("") + "\ndata: " + Tree.text(event) + "\n\n");
    return Mono.just(new Reply(200, "text/event-stream",
        messages && cutAfter > events.size() ? lines.concatWithValues("data: [DONE]\n\n") : lines));
  }

  private List<ObjectNode> responses(List<String> tokens, String prompt) {
    List<ObjectNode> events = new ArrayList<>();
    ObjectNode begun = response("in_progress", null, prompt);
    events.add(holding("response", begun));
    events.add(holding("response", begun));
    ObjectNode item = Tree.object().put("id", "msg_own").put("type", "message").put("role", "assistant")
        .put("status", "in_progress");
    item.putArray("content");
    events.add(holding("item", item).put("output_index", 0));
    events.add(holding("part", part("")).put("item_id", "msg_own").put("output_index", 0).put("content_index", 0));
    for (String token : tokens) {
      ObjectNode delta = Tree.object().put("item_id", "msg_own").put("output_index", 0).put("content_index", 0)
          .put("delta", token);
      delta.putArray("logprobs");
      events.add(delta);
    }
    String text = String.join("", tokens);
    ObjectNode done = Tree.object().put("item_id", "msg_own").put("output_index", 0).put("content_index", 0)
        .put("text", text);
    done.putArray("logprobs");
    events.add(done);
    events.add(holding("part", part(text)).put("item_id", "msg_own").put("output_index", 0).put("content_index", 0));
    ObjectNode whole = response("completed", text, prompt);
    events.add(holding("item", whole.path("output").path(0)).put("output_index", 0));
    events.add(holding("response", whole));
    List<String> types = new ArrayList<>(List.of("response.created", "response.in_progress",
        "response.output_item.added", "response.content_part.added"));
    tokens.forEach(token -> types.add("response.output_text.delta"));
    types.addAll(List.of("response.output_text.done", "response.content_part.done", "response.output_item.done",
        "response.completed"));
    for (int i = 0; i < types.size(); i++) {
      events.get(i).put("sequence_number", i).put("type", types.get(i));
    }
    return events;
  }

  private static ObjectNode holding(String name, JsonNode value) {
    ObjectNode event = Tree.object();
    event.set(name, value);
    return event;
  }

  private static ObjectNode part(String text) {
    ObjectNode part = Tree.object().put("type", "output_text").put("text", text);
    part.putArray("annotations");
    return part;
  }

  private ObjectNode response(String status, @Nullable String text, String prompt) {
    ObjectNode response = Tree.object().put("id", "resp_own").put("object", "response").put("created_at", 1)
        .put("status", status).put("model", model).put("parallel_tool_calls", true).put("tool_choice", "auto")
        .putNull("error").putNull("incomplete_details").putNull("usage");
    response.putArray("tools");
    var output = response.putArray("output");
    if (text != null) {
      output.addObject().put("id", "msg_own").put("type", "message").put("role", "assistant")
          .put("status", "completed").putArray("content").add(part(text));
      ObjectNode usage = response.putObject("usage").put("input_tokens", Model.length(prompt) + CACHED);
      usage.putObject("input_tokens_details").put("cached_tokens", CACHED);
      usage.put("output_tokens", 6).put("total_tokens", Model.length(prompt) + CACHED + 6)
          .putObject("output_tokens_details").put("reasoning_tokens", 0);
    }
    return response;
  }

  private List<ObjectNode> messages(List<String> tokens, String prompt) {
    List<ObjectNode> events = new ArrayList<>();
    ObjectNode begun = message(null, prompt);
    events.add(holding("message", begun).put("type", "message_start"));
    events.add(holding("content_block", Tree.object().put("type", "text").put("text", "")).put("index", 0)
        .put("type", "content_block_start"));
    for (String token : tokens) {
      events.add(holding("delta", Tree.object().put("type", "text_delta").put("text", token)).put("index", 0)
          .put("type", "content_block_delta"));
    }
    events.add(Tree.object().put("index", 0).put("type", "content_block_stop"));
    ObjectNode whole = message(String.join("", tokens), prompt);
    ObjectNode ended = holding("delta", Tree.object().put("stop_reason", "end_turn").putNull("stop_sequence"));
    ended.set("usage", whole.path("usage"));
    events.add(ended.put("type", "message_delta"));
    events.add(Tree.object().put("type", "message_stop"));
    return events;
  }

  private ObjectNode message(@Nullable String text, String prompt) {
    ObjectNode message = Tree.object().put("id", "msg_own").put("type", "message").put("role", "assistant")
        .put("model", model).put("stop_reason", text == null ? null : "end_turn").putNull("stop_sequence");
    var content = message.putArray("content");
    if (text != null) {
      content.addObject().put("type", "text").put("text", text);
    }
    message.putObject("usage").put("input_tokens", Model.length(prompt))
        .put("cache_read_input_tokens", CACHED).put("output_tokens", text == null ? 0 : 6);
    return message;
  }
}
