package io.penstock.examples.openai;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.penstock.block.session.SessionUse;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Reads requests of clients. Fields that it does not know are passed over, as are tools, temperatures and seeds.
final class RequestReader {
  private static final int DEFAULT_COMPLETION_TOKENS = 16;
  private static final int MAX_STOPS = 16;

  private final Engine engine;
  private final JsonMapper json;

  RequestReader(Engine engine, JsonMapper json) {
    this.engine = engine;
    this.json = json;
  }

  /// @param id of the request, without the prefix of its form
  /// @param session of the request; null for none
  GenerationRequest read(AnswerForm form, String id, @Nullable SessionUse session, byte[] body) {
    JsonNode root = tree(body);
    requireModel(root);
    for (String field : List.of("n", "best_of")) {
      if (root.path(field).asInt(1) != 1) {
        throw ApiException.ofField(field, field + " must be 1 (was " + root.path(field) + ")");
      }
    }
    for (String field : List.of("echo", "logprobs", "top_logprobs", "prompt_logprobs")) {
      JsonNode value = root.path(field);
      if (!value.isMissingNode() && !value.isNull() && !value.equals(json.getNodeFactory().booleanNode(false))) {
        throw ApiException.ofField(field, field + " must be absent (was " + value + ")");
      }
    }
    int[] prompt = form == AnswerForm.CHAT ? engine.encode(messages(root)) : prompt(root);
    JsonNode transfer = root.path("kv_transfer_params");
    EngineRequest request = new EngineRequest(form.idPrefix() + id, prompt, maxTokens(form, root, prompt),
        stopTokens(root), bool(root, "ignore_eos"), transfer.isObject() ? transfer : null, session);
    return new GenerationRequest(form, request, stops(root), bool(root, "stream"),
        bool(root.path("stream_options"), "include_usage"), bool(root, "return_token_ids"));
  }

  /// The tokens of a text or a conversation.
  int[] tokenized(byte[] body) {
    JsonNode root = tree(body);
    requireModel(root);
    return root.has("messages") ? engine.encode(messages(root)) : prompt(root);
  }

  int[] tokens(byte[] body) {
    return tokens(tree(body).path("tokens"), "tokens");
  }

  private JsonNode tree(byte[] body) {
    try {
      JsonNode root = json.readTree(body);
      if (!root.isObject()) {
        throw ApiException.badRequest("body must be a JSON object (was " + root.getNodeType() + ")");
      }
      return root;
    } catch (JacksonException e) {
      TokenStreamLocation at = e.getLocation();
      throw ApiException.badRequest("body must be JSON (was not%s)".formatted(at == null || at.getLineNr() < 1
          ? ""
          : ", at line " + at.getLineNr() + ", column " + at.getColumnNr()));
    }
  }

  private void requireModel(JsonNode root) {
    String model = root.path("model").asString(engine.model());
    if (!model.equals(engine.model())) {
      throw new ApiException(HttpResponseStatus.NOT_FOUND,
          "model must be " + engine.model() + " (was " + model + ")");
    }
  }

  private int[] prompt(JsonNode root) {
    JsonNode prompt = root.path("prompt");
    if (prompt.isArray() && prompt.size() == 1 && !prompt.get(0).isNumber()) {
      prompt = prompt.get(0);
    }
    if (prompt.isString()) {
      return engine.encode(prompt.asString());
    }
    return tokens(prompt, "prompt");
  }

  private static int[] tokens(JsonNode array, String name) {
    if (!array.isArray() || array.isEmpty()) {
      throw ApiException.ofField(name, name + " must be one text or token ids (was " + brief(array) + ")");
    }
    int[] tokens = new int[array.size()];
    for (int i = 0; i < tokens.length; i++) {
      JsonNode token = array.get(i);
      if (!token.isInt() || token.asInt() < 0) {
        throw ApiException.ofField(name,
            name + " must be one text or token ids (was a list with " + brief(token) + ")");
      }
      tokens[i] = token.asInt();
    }
    return tokens;
  }

  private static List<ChatMessage> messages(JsonNode root) {
    JsonNode array = root.path("messages");
    if (!array.isArray() || array.isEmpty()) {
      throw ApiException.ofField("messages", "messages must be a list of messages (was " + brief(array) + ")");
    }
    List<ChatMessage> messages = new ArrayList<>();
    for (JsonNode message : array) {
      JsonNode role = message.path("role");
      if (!role.isString()) {
        throw ApiException.ofField("messages", "messages must each have a role (was " + brief(message) + ")");
      }
      messages.add(new ChatMessage(role.asString(), text(message.path("content"))));
    }
    return messages;
  }

  /// Text of a content that is a string, a list of parts, or absent as beside the calls of tools.
  private static String text(JsonNode content) {
    if (content.isMissingNode() || content.isNull()) {
      return "";
    }
    if (content.isString()) {
      return content.asString();
    }
    StringBuilder text = new StringBuilder();
    for (JsonNode part : content) {
      if (!part.path("text").isString()) {
        throw ApiException.ofField("messages", "content must be text (was " + brief(part) + ")");
      }
      text.append(part.path("text").asString());
    }
    return text.toString();
  }

  private int maxTokens(AnswerForm form, JsonNode root, int[] prompt) {
    int left = engine.maxTokens() - prompt.length;
    if (left < 1) {
      throw ApiException.ofField(form == AnswerForm.CHAT ? "messages" : "prompt",
          "prompt must have at most %d tokens (was %d)".formatted(engine.maxTokens() - 1, prompt.length));
    }
    String limit = root.hasNonNull("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
    JsonNode asked = root.path(limit);
    if (asked.isMissingNode() || asked.isNull()) {
      return form == AnswerForm.CHAT ? left : Math.min(left, DEFAULT_COMPLETION_TOKENS);
    }
    if (!asked.isInt() || asked.asInt() < 1 || asked.asInt() > left) {
      throw ApiException.ofField(limit, "%s must be from 1 to %d for a prompt of %d tokens (was %s)".formatted(limit,
          left, prompt.length, brief(asked)));
    }
    return asked.asInt();
  }

  private static List<String> stops(JsonNode root) {
    JsonNode stop = root.path("stop");
    List<String> stops = new ArrayList<>();
    if (stop.isString()) {
      stops.add(stop.asString());
    } else {
      stop.forEach(each -> stops.add(each.asString("")));
    }
    if (stops.size() > MAX_STOPS || stops.contains("")) {
      throw ApiException.ofField("stop", "stop must be at most %d texts (was %s)".formatted(MAX_STOPS, brief(stop)));
    }
    return stops;
  }

  private static Set<Integer> stopTokens(JsonNode root) {
    Set<Integer> tokens = new HashSet<>();
    root.path("stop_token_ids").forEach(token -> tokens.add(token.asInt()));
    return tokens;
  }

  private static boolean bool(JsonNode node, String field) {
    return node.path(field).asBoolean(false);
  }

  private static String brief(JsonNode node) {
    String text = node.isMissingNode() ? "absent" : node.toString();
    return text.length() <= 64 ? text : text.substring(0, 64) + "…";
  }
}
