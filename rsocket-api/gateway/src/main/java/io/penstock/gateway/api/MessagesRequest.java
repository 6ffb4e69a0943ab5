package io.penstock.gateway.api;

import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// A request of `/v1/messages` as a request for a chat.
final class MessagesRequest {
  private MessagesRequest() {}

  static ObjectNode chat(ObjectNode body) {
    JsonNode limit = body.path("max_tokens");
    if (!limit.isIntegralNumber() || limit.asLong() < 1) {
      throw ApiException.field("max_tokens", "a whole number of at least 1", limit);
    }
    ObjectNode chat = ChatRequests.copy(body);
    ArrayNode messages = ApiJson.MAPPER.createArrayNode();
    JsonNode system = chat.remove("system");
    if (system != null && !system.isNull()) {
      ObjectNode message = messages.addObject().put("role", "system");
      if (system.isString()) {
        message.set("content", system);
      } else {
        ChatRequests.content(message, texts(system));
      }
    }
    for (JsonNode message : body.path("messages")) {
      message(message, messages);
    }
    chat.set("messages", messages);
    ChatRequests.move(chat, "stop_sequences", "stop");
    JsonNode thinking = chat.remove("thinking");
    if (thinking != null && thinking.path("type").isString()) {
      chat.withObject("chat_template_kwargs").put("enable_thinking",
          !thinking.path("type").asString().equals("disabled"));
    }
    output(chat);
    chat.remove("metadata");
    tools(chat);
    return chat;
  }

  private static ArrayNode texts(JsonNode blocks) {
    ArrayNode parts = ApiJson.MAPPER.createArrayNode();
    blocks.forEach(block -> parts.add(ChatRequests.textPart(block.path("text").asString(""))));
    return parts;
  }

  private static void message(JsonNode message, ArrayNode messages) {
    String role = message.path("role").asString("");
    if (!Set.of("user", "assistant", "system").contains(role)) {
      throw ApiException.part("messages", "role of a message", "user, assistant or system", message.path("role"));
    }
    JsonNode content = message.path("content");
    if (content.isString()) {
      messages.addObject().put("role", role).set("content", content);
      return;
    }
    if (!content.isArray()) {
      throw ApiException.part("messages", "content of a message", "a text or a list", content);
    }
    ArrayNode parts = ApiJson.MAPPER.createArrayNode();
    ArrayNode calls = ApiJson.MAPPER.createArrayNode();
    for (JsonNode block : content) {
      switch (block.path("type").asString("")) {
        case "text" -> parts.add(ChatRequests.textPart(block.path("text").asString("")));
        case "image" -> parts.add(ChatRequests.imagePart(image(block.path("source"))));
        case "tool_use" -> calls.add(ChatRequests.toolCall(block.path("id").asString(""),
            block.path("name").asString(""), block.path("input").toString()));
        case "tool_result" -> result(block, messages);
        case "thinking", "redacted_thinking" -> {
        } // thoughts of an earlier turn are not part of a chat
        default -> throw ApiException.part("messages", "type of a content block",
            "text, image, tool_use, tool_result or thinking", block.path("type"));
      }
    }
    if (!parts.isEmpty() || !calls.isEmpty()) {
      ObjectNode chat = messages.addObject().put("role", role);
      if (parts.isEmpty()) {
        chat.putNull("content");
      } else {
        ChatRequests.content(chat, parts);
      }
      if (!calls.isEmpty()) {
        chat.set("tool_calls", calls);
      }
    }
  }

  private static String image(JsonNode source) {
    return source.path("type").asString("").equals("url")
        ? source.path("url").asString("")
        : "data:" + source.path("media_type").asString("") + ";base64," + source.path("data").asString("");
  }

  private static void result(JsonNode block, ArrayNode messages) {
    ObjectNode message =
        messages.addObject().put("role", "tool").put("tool_call_id", block.path("tool_use_id").asString(""));
    JsonNode content = block.path("content");
    if (content.isArray()) {
      ArrayNode parts = ApiJson.MAPPER.createArrayNode();
      for (JsonNode part : content) {
        parts.add(switch (part.path("type").asString("")) {
          case "text" -> ChatRequests.textPart(part.path("text").asString(""));
          case "image" -> ChatRequests.imagePart(image(part.path("source")));
          default -> throw ApiException.part("messages", "type of a block in a tool_result", "text or image",
              part.path("type"));
        });
      }
      ChatRequests.content(message, parts);
    } else {
      message.put("content", content.asString(""));
    }
  }

  /// The schema of the answer, and the effort.
  private static void output(ObjectNode chat) {
    JsonNode output = chat.remove("output_config");
    if (output == null) {
      return;
    }
    if (output.path("effort").isString()) {
      chat.set("reasoning_effort", output.path("effort"));
    }
    if (output.path("format").path("type").asString("").equals("json_schema")) {
      ObjectNode schema = chat.putObject("response_format").put("type", "json_schema").putObject("json_schema");
      schema.put("name", "answer").set("schema", output.path("format").path("schema"));
    }
  }

  private static void tools(ObjectNode chat) {
    JsonNode tools = chat.remove("tools");
    if (tools != null && tools.isArray() && !tools.isEmpty()) {
      ArrayNode chatTools = chat.putArray("tools");
      for (JsonNode tool : tools) {
        String type = tool.path("type").asString("custom");
        if (!type.equals("custom")) {
          throw ApiException.part("tools", "type of a tool", "custom", tool.path("type"));
        }
        ObjectNode function = chatTools.addObject().put("type", "function").putObject("function");
        function.put("name", tool.path("name").asString(""));
        if (tool.path("description").isString()) {
          function.set("description", tool.path("description"));
        }
        function.set("parameters", tool.path("input_schema").isObject() ? tool.path("input_schema") : ApiJson.object());
      }
    }
    JsonNode choice = chat.remove("tool_choice");
    if (choice == null || !choice.isObject()) {
      return;
    }
    if (choice.path("disable_parallel_tool_use").asBoolean(false)) {
      chat.put("parallel_tool_calls", false);
    }
    switch (choice.path("type").asString("")) {
      case "any" -> chat.put("tool_choice", "required");
      case "none" -> chat.put("tool_choice", "none");
      case "tool" -> {
        ObjectNode named = chat.putObject("tool_choice").put("type", "function");
        named.putObject("function").put("name", choice.path("name").asString(""));
      }
      default -> chat.put("tool_choice", "auto");
    }
  }
}
