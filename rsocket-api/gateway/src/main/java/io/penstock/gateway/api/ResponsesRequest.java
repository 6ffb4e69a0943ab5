package io.penstock.gateway.api;

import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/// A request of `/v1/responses` as a request for a chat.
final class ResponsesRequest {
  /// Fields that mean something only where responses are stored.
  private static final List<String> STORED = List.of("store", "include", "truncation", "background",
      "conversation", "max_tool_calls", "top_logprobs");

  private static final String INPUT = "a text, or a list that is not empty";
  private static final String LIMIT = "max_output_tokens";

  private ResponsesRequest() {}

  /// Refuses what needs responses that are stored.
  static void requireUnstored(ObjectNode body) {
    for (String name : List.of("previous_response_id", "conversation")) {
      if (!body.path(name).isMissingNode() && !body.path(name).isNull()) {
        throw ApiException.field(name, "left out, because responses are not stored", body.path(name));
      }
    }
    if (body.path("background").asBoolean(false)) {
      throw ApiException.field("background", "false, because responses are not stored", body.path("background"));
    }
  }

  static ObjectNode chat(ObjectNode body) {
    requireUnstored(body);
    ObjectNode chat = ChatRequests.copy(body);
    STORED.forEach(chat::remove);
    ArrayNode messages = ApiJson.MAPPER.createArrayNode();
    JsonNode instructions = chat.remove("instructions");
    if (instructions != null && instructions.isString()) {
      messages.addObject().put("role", "system").put("content", instructions.asString());
    }
    input(chat.remove("input"), messages);
    chat.set("messages", messages);
    JsonNode limit = body.path(LIMIT);
    if (!limit.isMissingNode() && !limit.isNull() && (!limit.isIntegralNumber() || limit.asLong() < 1)) {
      throw ApiException.field(LIMIT, "a whole number of at least 1", limit);
    }
    ChatRequests.move(chat, LIMIT, "max_tokens");
    format(chat);
    JsonNode reasoning = chat.remove("reasoning");
    if (reasoning != null && reasoning.path("effort").isString()) {
      chat.set("reasoning_effort", reasoning.path("effort"));
    }
    tools(chat);
    return chat;
  }

  private static void input(JsonNode input, ArrayNode messages) {
    if (input != null && input.isString()) {
      messages.addObject().put("role", "user").put("content", input.asString());
      return;
    }
    if (input == null || !input.isArray() || input.isEmpty()) {
      throw ApiException.field("input", INPUT, input == null ? MissingNode.getInstance() : input);
    }
    for (JsonNode item : input) {
      switch (item.path("type").asString("message")) {
        case "message" -> message(item, messages);
        case "function_call" -> call(item, messages);
        case "function_call_output" -> output(item.path("output"), messages.addObject().put("role", "tool")
            .put("tool_call_id", item.path("call_id").asString("")));
        case "reasoning" -> {
        } // thoughts of an earlier turn are not part of a chat
        default -> throw ApiException.part("input", "type of an input item",
            "message, function_call, function_call_output or reasoning", item.path("type"));
      }
    }
  }

  private static void output(JsonNode output, ObjectNode message) {
    if (output.isArray()) {
      ChatRequests.content(message, parts(output));
    } else {
      message.put("content", output.isString() ? output.asString() : output.toString());
    }
  }

  private static void message(JsonNode item, ArrayNode messages) {
    String role = item.path("role").asString("");
    if (!List.of("user", "assistant", "system", "developer").contains(role)) {
      throw ApiException.part("input", "role of an input message", "user, assistant, system or developer",
          item.path("role"));
    }
    ObjectNode message = messages.addObject().put("role", role.equals("developer") ? "system" : role);
    JsonNode content = item.path("content");
    if (content.isString()) {
      message.set("content", content);
      return;
    }
    ChatRequests.content(message, parts(content));
  }

  private static ArrayNode parts(JsonNode content) {
    ArrayNode parts = ApiJson.MAPPER.createArrayNode();
    for (JsonNode part : content) {
      parts.add(switch (part.path("type").asString("")) {
        case "input_text", "output_text", "text" -> ChatRequests.textPart(part.path("text").asString(""));
        case "refusal" -> ChatRequests.textPart(part.path("refusal").asString(""));
        case "input_image" -> image(part.path("image_url"));
        default -> throw ApiException.part("input", "type of a content part",
            "input_text, output_text, refusal or input_image", part.path("type"));
      });
    }
    return parts;
  }

  private static ObjectNode image(JsonNode url) {
    if (!url.isString()) {
      throw ApiException.part("input", "image_url", "a URL, because files are not stored", url);
    }
    return ChatRequests.imagePart(url.asString());
  }

  /// Calls that follow one another, or a text of the assistant, are one message of a chat.
  private static void call(JsonNode item, ArrayNode messages) {
    JsonNode last = messages.isEmpty() ? null : messages.get(messages.size() - 1);
    ObjectNode message = last instanceof ObjectNode before && before.path("role").asString("").equals("assistant")
        ? before
        : messages.addObject().put("role", "assistant").putNull("content");
    message.withArray("tool_calls").add(ChatRequests.toolCall(item.path("call_id").asString(""),
        item.path("name").asString(""), item.path("arguments").asString("{}")));
  }

  private static void format(ObjectNode chat) {
    JsonNode text = chat.remove("text");
    JsonNode format = text == null ? ApiJson.object() : text.path("format");
    if (format.path("type").asString("").equals("json_schema")) {
      ObjectNode response = chat.putObject("response_format").put("type", "json_schema");
      ObjectNode schema = response.putObject("json_schema");
      format.properties().stream().filter(field -> !field.getKey().equals("type"))
          .forEach(field -> schema.set(field.getKey(), field.getValue()));
    } else if (format.path("type").asString("").equals("json_object")) {
      chat.putObject("response_format").put("type", "json_object");
    }
  }

  private static void tools(ObjectNode chat) {
    JsonNode tools = chat.remove("tools");
    if (tools != null && tools.isArray() && !tools.isEmpty()) {
      ArrayNode chatTools = chat.putArray("tools");
      for (JsonNode tool : tools) {
        if (!tool.path("type").asString("").equals("function")) {
          throw ApiException.part("tools", "type of a tool", "function", tool.path("type"));
        }
        ObjectNode function = chatTools.addObject().put("type", "function").putObject("function");
        tool.properties().stream().filter(field -> !field.getKey().equals("type"))
            .forEach(field -> function.set(field.getKey(), field.getValue()));
      }
    }
    JsonNode choice = chat.path("tool_choice");
    if (choice.isObject() && choice.path("name").isString()) {
      ObjectNode named = ApiJson.object().put("type", "function");
      named.putObject("function").put("name", choice.path("name").asString());
      chat.set("tool_choice", named);
    }
  }
}
