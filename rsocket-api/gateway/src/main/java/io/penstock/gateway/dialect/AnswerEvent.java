package io.penstock.gateway.dialect;

import io.penstock.gateway.chunk.EngineChunk;
import tools.jackson.databind.node.ObjectNode;

/// A part of an answer.
public sealed interface AnswerEvent {
  /// One chunk of a stream: the JSON of a `data:` line, as the engine wrote it unless something had to change.
  record Chunk(EngineChunk read) implements AnswerEvent {
    public Chunk(String json) {
      this(new EngineChunk(json));
    }

    public String json() {
      return read.json();
    }
  }

  /// The whole answer to a request that asked for no stream. The receiver owns the tree.
  record Whole(ObjectNode body) implements AnswerEvent {}
}
