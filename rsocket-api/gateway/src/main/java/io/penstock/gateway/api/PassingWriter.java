package io.penstock.gateway.api;

import io.penstock.gateway.chunk.EngineChunk;
import tools.jackson.databind.node.ObjectNode;

/// Passes answers on as engines write them.
final class PassingWriter implements AnswerWriter {
  private final ApiForm form;
  private final String id;

  PassingWriter(ApiForm form, String id) {
    this.form = form;
    this.id = id;
  }

  @Override
  public void chunk(EngineChunk chunk, StringBuilder to) {
    to.append("data: ").append(chunk.json()).append("\n\n");
  }

  @Override
  public void end(StringBuilder to) {
    to.append("data: [DONE]\n\n");
  }

  @Override
  public void fail(int status, String message, StringBuilder to) {
    to.append("data: ").append(ApiJson.text(ApiErrors.body(form, status, message, null, id))).append("\n\n");
  }

  @Override
  public ObjectNode whole(ObjectNode engine) {
    return engine;
  }
}
