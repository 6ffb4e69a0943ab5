package io.penstock.gateway.api;

import io.penstock.gateway.chunk.EngineChunk;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Writes answers of a chat in the form of `/v1/messages`.
final class MessagesWriter implements AnswerWriter {
  private static final int TEXT = -1;
  private static final int NO_BLOCK = -2;

  /// Empty until the engine names it, if the request names none.
  private String model;
  private final String id;
  private boolean begun;
  /// The tool call of the open block, [#TEXT] or [#NO_BLOCK].
  private int open = NO_BLOCK;
  private int blocks;
  private @Nullable String finish;
  private @Nullable String stop;
  private TokenCounts counts;

  /// @param known the counts that are known when the answer begins
  MessagesWriter(ObjectNode request, String id, TokenCounts known) {
    this.counts = known;
    this.model = request.path("model").asString("");
    this.id = id;
  }

  @Override
  public void chunk(EngineChunk chunk, StringBuilder to) {
    ChatDelta delta = ChatDelta.of(chunk);
    if (delta.usage().isObject()) {
      counts = TokenCounts.of(delta.usage());
    }
    if (model.isEmpty()) {
      model = ApiJson.member("model", chunk.json());
    }
    begin(to);
    if (!delta.text().isEmpty()) {
      if (open != TEXT) {
        open(TEXT, ApiJson.object().put("type", "text").put("text", ""), to);
      }
      to.append("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":").append(blocks)
          .append(",\"delta\":{\"type\":\"text_delta\",\"text\":");
      ApiJson.quoted(delta.text(), to);
      to.append("}}\n\n");
    }
    for (JsonNode call : delta.calls()) {
      JsonNode function = call.path("function");
      int number = call.path("index").asInt(0);
      if (number != open) {
        ObjectNode block = ApiJson.object().put("type", "tool_use").put("id", call.path("id").asString(""))
            .put("name", function.path("name").asString(""));
        block.putObject("input");
        open(number, block, to);
      }
      String arguments = function.path("arguments").asString("");
      if (!arguments.isEmpty()) {
        delta(ApiJson.object().put("type", "input_json_delta").put("partial_json", arguments), to);
      }
    }
    if (delta.finish() != null) {
      finish = delta.finish();
      stop = stopText(delta.stop());
    }
  }

  @Override
  public void end(StringBuilder to) {
    begin(to);
    close(to);
    ObjectNode data = ApiJson.object().put("type", "message_delta");
    data.putObject("delta").put("stop_reason", stopReason(finish, stop)).put("stop_sequence", stop);
    data.set("usage", counts.messages());
    event("message_delta", data, to);
    event("message_stop", ApiJson.object().put("type", "message_stop"), to);
  }

  @Override
  public void fail(int status, String message, StringBuilder to) {
    event("error", ApiErrors.body(ApiForm.MESSAGES, status, message, null, id), to);
  }

  @Override
  public ObjectNode whole(ObjectNode engine) {
    JsonNode choice = engine.path("choices").path(0);
    if (model.isEmpty()) {
      model = engine.path("model").asString("");
    }
    ObjectNode message = message();
    ArrayNode content = (ArrayNode) message.path("content");
    String text = choice.path("message").path("content").asString("");
    if (!text.isEmpty()) {
      content.addObject().put("type", "text").put("text", text);
    }
    for (JsonNode call : choice.path("message").path("tool_calls")) {
      content.addObject().put("type", "tool_use").put("id", call.path("id").asString(""))
          .put("name", call.path("function").path("name").asString(""))
          .set("input", input(call.path("function").path("arguments").asString("{}")));
    }
    String ended = stopText(choice.path("stop_reason"));
    message.put("stop_reason", stopReason(choice.path("finish_reason").asString("stop"), ended))
        .put("stop_sequence", ended);
    message.set("usage", TokenCounts.of(engine.path("usage")).messages());
    return message;
  }

  private static JsonNode input(String arguments) {
    try {
      JsonNode tree = ApiJson.MAPPER.readTree(arguments);
      return tree.isObject() ? tree : ApiJson.object();
    } catch (JacksonException e) {
      return ApiJson.object().put("invalid_json", arguments); // the model's mistake, which the caller shall see
    }
  }

  private ObjectNode message() {
    ObjectNode message = ApiJson.object().put("id", "msg_" + id).put("type", "message").put("role", "assistant")
        .put("model", model);
    message.putArray("content");
    return message.putNull("stop_reason").putNull("stop_sequence");
  }

  private void begin(StringBuilder to) {
    if (!begun) {
      begun = true;
      ObjectNode data = ApiJson.object().put("type", "message_start");
      ObjectNode message = message();
      message.set("usage", counts.messages());
      data.set("message", message);
      event("message_start", data, to);
    }
  }

  private void open(int block, ObjectNode content, StringBuilder to) {
    if (open != block) {
      close(to);
      open = block;
      event("content_block_start", ApiJson.object().put("type", "content_block_start").put("index", blocks)
          .set("content_block", content), to);
    }
  }

  private void close(StringBuilder to) {
    if (open != NO_BLOCK) {
      event("content_block_stop", ApiJson.object().put("type", "content_block_stop").put("index", blocks++), to);
      open = NO_BLOCK;
    }
  }

  private void delta(ObjectNode delta, StringBuilder to) {
    event("content_block_delta",
        ApiJson.object().put("type", "content_block_delta").put("index", blocks).set("delta", delta), to);
  }

  private static void event(String name, JsonNode data, StringBuilder to) {
    to.append("event: ").append(name).append("\ndata: ").append(ApiJson.text(data)).append("\n\n");
  }

  /// Engines name the text or the token that ended an answer; a token is none of the request's stop sequences.
  private static @Nullable String stopText(JsonNode stop) {
    return stop.isString() ? stop.asString() : null;
  }

  private static String stopReason(@Nullable String finish, @Nullable String stop) {
    return switch (finish == null ? "stop" : finish) {
      case "length" -> "max_tokens";
      case "tool_calls", "function_call" -> "tool_use";
      case "content_filter" -> "refusal";
      default -> stop == null ? "end_turn" : "stop_sequence";
    };
  }
}
