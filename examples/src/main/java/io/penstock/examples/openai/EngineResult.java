package io.penstock.examples.openai;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// How an answer of an [Engine] ended.
///
/// @param transfer `kv_transfer_params` of the response, for engines that exchange KV caches
public record EngineResult(Reason reason, @Nullable JsonNode transfer) {
  /// Why an answer ended.
  public enum Reason {
    /// The model ended it, or one of the stop tokens.
    STOP,
    /// It has as many tokens as the request allows.
    LENGTH
  }

  public EngineResult {
    requireNonNull(reason, "reason");
  }

  public static EngineResult of(Reason reason) {
    return new EngineResult(reason, null);
  }
}
