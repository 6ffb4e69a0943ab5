package io.penstock.gateway.api;

import io.penstock.gateway.chunk.EngineChunk;
import tools.jackson.databind.node.ObjectNode;

/// Writes one answer in the form of its endpoint. Used by one thread at a time.
public interface AnswerWriter {
  /// Appends the events that a chunk of the engine becomes; none if it becomes none.
  void chunk(EngineChunk chunk, StringBuilder to);

  /// Appends the events of an answer that is whole.
  void end(StringBuilder to);

  /// Appends the events of an answer that failed after it began. A client of this form raises an error for them.
  void fail(int status, String message, StringBuilder to);

  /// The whole answer in this form.
  ///
  /// @param engine the answer of the engine; it may be changed
  ObjectNode whole(ObjectNode engine);

  /// A writer for one request.
  ///
  /// @param request the client's body
  /// @param id the request's id
  /// @param epochSecond the time of the answer
  /// @param known the counts that are known when the answer begins
  static AnswerWriter of(ApiForm form, ObjectNode request, String id, long epochSecond, TokenCounts known) {
    return switch (form) {
      case RESPONSES -> new ResponsesWriter(request, id, epochSecond);
      case MESSAGES -> new MessagesWriter(request, id, known);
      default -> new PassingWriter(form, id);
    };
  }

  /// A writer for a request that an engine answers in the client's own form.
  static AnswerWriter own(ApiForm form, String id) {
    return new OwnWriter(form, id);
  }
}
