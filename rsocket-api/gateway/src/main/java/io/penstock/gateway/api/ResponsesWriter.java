package io.penstock.gateway.api;

import io.penstock.gateway.chunk.EngineChunk;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Writes answers of a chat in the form of `/v1/responses`.
final class ResponsesWriter implements AnswerWriter {
  private static final List<String> ECHOED = List.of("instructions", "max_output_tokens", "metadata", "temperature",
      "top_p", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "user");
  /// Members that a response always has, as they are where a request leaves them out.
  private static final ObjectNode DEFAULTS = defaults();
  private static final int NONE = -2;
  private static final int TEXT = -1;

  private final ObjectNode request;
  private final String id;
  private final long created;
  private final ArrayNode output = ApiJson.MAPPER.createArrayNode();
  private final StringBuilder content = new StringBuilder();
  private int sequence;
  /// The tool call of the open item, [#TEXT] or [#NONE].
  private int open = NONE;
  private @Nullable ObjectNode item;
  /// Empty until the engine names it, if the request names none.
  private String model;
  private boolean begun;
  private @Nullable String finish;
  private TokenCounts counts = TokenCounts.NONE;

  ResponsesWriter(ObjectNode request, String id, long created) {
    this.request = request;
    this.id = id;
    this.model = request.path("model").asString("");
    this.created = created;
  }

  @Override
  public void chunk(EngineChunk chunk, StringBuilder to) {
    ChatDelta delta = ChatDelta.of(chunk);
    if (model.isEmpty()) {
      model = ApiJson.member("model", chunk.json());
    }
    begin(to);
    if (delta.usage().isObject()) {
      counts = TokenCounts.of(delta.usage());
    }
    if (!delta.text().isEmpty()) {
      if (open != TEXT) {
        open(TEXT, message(""), to);
        event(at("response.content_part.added").put("content_index", 0).set("part", part("")), to);
      }
      content.append(delta.text());
      to.append(
          "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":")
          .append(sequence++).append(",\"item_id\":");
      ApiJson.quoted(itemId(), to);
      to.append(",\"output_index\":").append(output.size()).append(",\"content_index\":0,\"delta\":");
      ApiJson.quoted(delta.text(), to);
      to.append(",\"logprobs\":[]}\n\n");
    }
    for (JsonNode call : delta.calls()) {
      int number = call.path("index").asInt(0);
      if (number != open) {
        open(number, call(call, ""), to);
      }
      String arguments = call.path("function").path("arguments").asString("");
      if (!arguments.isEmpty()) {
        content.append(arguments);
        event(at("response.function_call_arguments.delta").put("delta", arguments), to);
      }
    }
    if (delta.finish() != null) {
      finish = delta.finish();
    }
  }

  @Override
  public void end(StringBuilder to) {
    begin(to);
    close(to);
    ObjectNode response = response(isCut(finish) ? "incomplete" : "completed", output);
    closed(response, finish, counts);
    event(named(isCut(finish) ? "response.incomplete" : "response.completed").set("response", response), to);
  }

  @Override
  public void fail(int status, String message, StringBuilder to) {
    ObjectNode response = ApiErrors.failed(response("failed", output), status, message);
    event(named("response.failed").set("response", response), to);
  }

  @Override
  public ObjectNode whole(ObjectNode engine) {
    JsonNode choice = engine.path("choices").path(0);
    if (model.isEmpty()) {
      model = engine.path("model").asString("");
    }
    String text = choice.path("message").path("content").asString("");
    if (!text.isEmpty()) {
      output.add(message(text).put("status", "completed"));
    }
    for (JsonNode call : choice.path("message").path("tool_calls")) {
      output.add(call(call, call.path("function").path("arguments").asString("")).put("status", "completed"));
    }
    String reason = choice.path("finish_reason").asString("stop");
    ObjectNode response = response(isCut(reason) ? "incomplete" : "completed", output);
    closed(response, reason, TokenCounts.of(engine.path("usage")));
    return response;
  }

  private static boolean isCut(@Nullable String finish) {
    return "length".equals(finish) || "content_filter".equals(finish);
  }

  private static void closed(ObjectNode response, @Nullable String finish, TokenCounts counts) {
    if (isCut(finish)) {
      response.putObject("incomplete_details")
          .put("reason", "length".equals(finish) ? "max_output_tokens" : "content_filter");
    }
    response.set("usage", counts.responses());
  }

  private void begin(StringBuilder to) {
    if (!begun) {
      begun = true;
      ArrayNode none = ApiJson.MAPPER.createArrayNode();
      event(named("response.created").set("response", response("in_progress", none)), to);
      event(named("response.in_progress").set("response", response("in_progress", none)), to);
    }
  }

  private void open(int number, ObjectNode opened, StringBuilder to) {
    close(to);
    open = number;
    item = opened;
    content.setLength(0);
    event(named("response.output_item.added").put("output_index", output.size()).set("item", opened.deepCopy()), to);
  }

  private void close(StringBuilder to) {
    ObjectNode closing = item;
    if (closing == null) {
      return;
    }
    String all = content.toString();
    if (open == TEXT) {
      ObjectNode done = at("response.output_text.done").put("content_index", 0).put("text", all);
      done.putArray("logprobs");
      event(done, to);
      event(at("response.content_part.done").put("content_index", 0).set("part", part(all)), to);
      closing.putArray("content").add(part(all));
    } else {
      event(at("response.function_call_arguments.done").put("name", closing.path("name").asString(""))
          .put("arguments", all), to);
      closing.put("arguments", all);
    }
    closing.put("status", "completed");
    event(named("response.output_item.done").put("output_index", output.size()).set("item", closing.deepCopy()), to);
    output.add(closing);
    item = null;
    open = NONE;
  }

  private ObjectNode named(String type) {
    return ApiJson.object().put("type", type).put("sequence_number", sequence++);
  }

  /// An event about the open item.
  private ObjectNode at(String type) {
    return named(type).put("item_id", itemId()).put("output_index", output.size());
  }

  private String itemId() {
    return item == null ? "" : item.path("id").asString("");
  }

  private ObjectNode message(String text) {
    ObjectNode message = ApiJson.object().put("id", "msg_" + id + "_" + output.size()).put("type", "message")
        .put("status", "in_progress").put("role", "assistant");
    ArrayNode parts = message.putArray("content");
    if (!text.isEmpty()) {
      parts.add(part(text));
    }
    return message;
  }

  private static ObjectNode part(String text) {
    ObjectNode part = ApiJson.object().put("type", "output_text").put("text", text);
    part.putArray("annotations");
    part.putArray("logprobs");
    return part;
  }

  private ObjectNode call(JsonNode call, String arguments) {
    return ApiJson.object().put("id", "fc_" + id + "_" + output.size()).put("type", "function_call")
        .put("status", "in_progress").put("call_id", call.path("id").asString(""))
        .put("name", call.path("function").path("name").asString("")).put("arguments", arguments);
  }

  private ObjectNode response(String status, ArrayNode items) {
    ObjectNode response = ApiJson.object().put("id", "resp_" + id).put("object", "response").put("created_at", created)
        .put("status", status).put("model", model);
    response.putNull("error").putNull("incomplete_details").putNull("usage");
    for (String field : ECHOED) {
      JsonNode value = request.path(field);
      if (!value.isMissingNode()) {
        response.set(field, value);
      }
    }
    DEFAULTS.properties().stream().filter(field -> !response.has(field.getKey()))
        .forEach(field -> response.set(field.getKey(), field.getValue().deepCopy()));
    response.set("output", items.deepCopy());
    return response;
  }

  private static ObjectNode defaults() {
    ObjectNode defaults = ApiJson.object().put("background", false).putNull("instructions")
        .putNull("max_output_tokens").put("parallel_tool_calls", true).putNull("previous_response_id")
        .put("store", false).put("temperature", 1.0).put("tool_choice", "auto").put("top_p", 1.0)
        .put("truncation", "disabled");
    defaults.putObject("metadata");
    defaults.putObject("reasoning").putNull("effort").putNull("summary");
    defaults.putObject("text").putObject("format").put("type", "text");
    defaults.putArray("tools");
    return defaults;
  }

  private static void event(JsonNode data, StringBuilder to) {
    to.append("event: ").append(data.path("type").asString("")).append("\ndata: ").append(ApiJson.text(data))
        .append("\n\n");
  }
}
