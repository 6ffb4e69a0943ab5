package io.penstock.gateway.dialect;

import java.net.URI;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/// One request to one engine.
///
/// @param role what the engine does in it
/// @param engine the engine
/// @param path the endpoint
/// @param headers headers, without those of the content
/// @param body the JSON
public record Leg(Role role, EngineAddress engine, String path, Map<String, String> headers, ObjectNode body) {
  /// What an engine does in a leg.
  public enum Role {
    /// Computes the prompt.
    PREFILL,
    /// Answers.
    DECODE,
    /// Does both.
    BOTH;

    /// The word for messages.
    public String word() {
      return switch (this) {
        case PREFILL -> "prefill";
        case DECODE -> "decode";
        case BOTH -> "engine";
      };
    }
  }

  URI uri() {
    return engine.at(path);
  }
}
