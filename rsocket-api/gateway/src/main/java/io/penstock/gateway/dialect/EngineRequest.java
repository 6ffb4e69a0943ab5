package io.penstock.gateway.dialect;

import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A request as the engines of a pair shall answer it.
///
/// @param path the endpoint, `/v1/completions` or `/v1/chat/completions`
/// @param body the JSON of the request; dialects copy it and never change it
/// @param id the request's id; each attempt extends it, so ids that engines see are unique
/// @param headers headers that go with every leg, trace context and authorization for example
public record EngineRequest(String path, ObjectNode body, String id, Map<String, String> headers) {
  static final String COMPLETIONS = "/v1/completions";
  static final String CHAT = "/v1/chat/completions";

  public EngineRequest {
    if (!path.startsWith("/")) {
      throw new IllegalArgumentException("path must start with / (was " + path + ")");
    }
    if (id.isEmpty()) {
      throw new IllegalArgumentException("id must not be empty");
    }
    headers = Map.copyOf(headers);
  }

  /// Whether the client asked for a stream.
  public boolean isStream() {
    return body.path("stream").asBoolean(false);
  }

  boolean isChat() {
    return path.equals(CHAT);
  }

  EngineRequest withBody(ObjectNode changed) {
    return new EngineRequest(path, changed, id, headers);
  }

  /// A copy of the top level of the body; the values are shared, so a long prompt is not copied.
  ObjectNode copy() {
    ObjectNode copy = Json.object();
    copy.setAll(body);
    return copy;
  }

  /// The number of prompts: a list of texts or of token lists counts its entries, anything else is one prompt.
  int prompts() {
    JsonNode prompt = body.path("prompt");
    boolean list = !isChat() && prompt.isArray() && !prompt.isEmpty() && !prompt.path(0).isNumber();
    return list ? prompt.size() : 1;
  }
}
