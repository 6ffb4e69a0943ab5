package io.penstock.gateway.api;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Requests of the forms that engines need not know, as requests for a chat. Fields without a counterpart are passed on
/// unchanged.
public final class ChatRequests {
  private ChatRequests() {}

  /// The request for an engine.
  ///
  /// @param body the client's; not changed
  /// @throws ApiException with status 400 if a field breaks a rule of the form
  public static ObjectNode of(ApiForm form, ObjectNode body) {
    ObjectNode request = switch (form) {
      case RESPONSES -> ResponsesRequest.chat(body);
      case MESSAGES -> MessagesRequest.chat(body);
      default -> copy(body);
    };
    require(form, request);
    if ((form == ApiForm.RESPONSES || form == ApiForm.MESSAGES) && request.path("stream").asBoolean(false)) {
      request.withObject("stream_options").put("include_usage", true); // their streams end with the counts of tokens
    }
    return request;
  }

  /// Checks a request that goes to an engine in the client's own form.
  ///
  /// @throws ApiException with status 400 if a field breaks a rule that holds whichever engine answers
  public static void requireOwn(ApiForm form, ObjectNode body) {
    requireHead(body);
    if (form == ApiForm.RESPONSES) {
      ResponsesRequest.requireUnstored(body);
    }
  }

  private static void require(ApiForm form, ObjectNode request) {
    requireHead(request);
    if (form == ApiForm.COMPLETIONS) {
      JsonNode prompt = request.path("prompt");
      if (!prompt.isString() && !(prompt.isArray() && !prompt.isEmpty())) {
        throw ApiException.field("prompt", "a text, tokens, or a list that is not empty", prompt);
      }
    } else if (!request.path("messages").isArray() || request.path("messages").isEmpty()) {
      String field = form == ApiForm.RESPONSES ? "input" : "messages";
      throw ApiException.field(field, "a list with a message", request.path("messages"));
    }
  }

  private static void requireHead(ObjectNode request) {
    JsonNode model = request.path("model");
    if (!model.isMissingNode() && !model.isString()) {
      throw ApiException.field("model", "a text", model);
    }
    JsonNode stream = request.path("stream");
    if (!stream.isMissingNode() && !stream.isNull() && !stream.isBoolean()) {
      throw ApiException.field("stream", "true or false", stream);
    }
  }

  static ObjectNode copy(ObjectNode body) {
    ObjectNode copy = ApiJson.object();
    copy.setAll(body);
    return copy;
  }

  static void move(ObjectNode body, String from, String to) {
    JsonNode value = body.remove(from);
    if (value != null && !value.isNull()) {
      body.set(to, value);
    }
  }

  static ObjectNode textPart(String text) {
    return ApiJson.object().put("type", "text").put("text", text);
  }

  static ObjectNode imagePart(String url) {
    ObjectNode part = ApiJson.object().put("type", "image_url");
    part.putObject("image_url").put("url", url);
    return part;
  }

  /// One text where all parts are texts, because not every chat template reads parts.
  static void content(ObjectNode message, ArrayNode parts) {
    StringBuilder text = new StringBuilder();
    for (JsonNode part : parts) {
      if (!part.path("type").asString("").equals("text")) {
        message.set("content", parts);
        return;
      }
      text.append(part.path("text").asString(""));
    }
    message.put("content", text.toString());
  }

  static ObjectNode toolCall(String id, String name, String arguments) {
    ObjectNode call = ApiJson.object().put("id", id).put("type", "function");
    call.putObject("function").put("name", name).put("arguments", arguments);
    return call;
  }
}
