package io.penstock.gateway.api;

import io.penstock.gateway.chunk.EngineChunk;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Passes on answers that an engine wrote in the form of `/v1/responses` or `/v1/messages`.
final class OwnWriter implements AnswerWriter {
  private final ApiForm form;
  private final String id;
  private @Nullable EngineChunk first;
  private int events;

  OwnWriter(ApiForm form, String id) {
    this.form = form;
    this.id = id;
  }

  @Override
  public void chunk(EngineChunk chunk, StringBuilder to) {
    String json = chunk.json();
    if (first == null) {
      first = chunk;
    }
    events++;
    event(ApiJson.type(json), json, to);
  }

  @Override
  public void end(StringBuilder to) {
    // the last event of the engine was the end
  }

  @Override
  public void fail(int status, String message, StringBuilder to) {
    if (form == ApiForm.MESSAGES) {
      event("error", ApiJson.text(ApiErrors.body(form, status, message, null, id)), to);
      return;
    }
    ObjectNode failed = ApiJson.object().put("type", "response.failed").put("sequence_number", events);
    failed.set("response", ApiErrors.failed(begun(), status, message));
    event("response.failed", ApiJson.text(failed), to);
  }

  /// The response as the first event has it.
  private ObjectNode begun() {
    return first != null && first.tree().path("response") instanceof ObjectNode response
        ? response
        : ApiJson.object().put("id", "resp_" + id).put("object", "response");
  }

  @Override
  public ObjectNode whole(ObjectNode engine) {
    return engine;
  }

  private static void event(String type, String json, StringBuilder to) {
    to.append("event: ").append(type).append("\ndata: ").append(json).append("\n\n");
  }
}
