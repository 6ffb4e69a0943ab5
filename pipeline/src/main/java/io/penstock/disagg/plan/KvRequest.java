package io.penstock.disagg.plan;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;

/// A request whose cache moves from prefill to decode.
///
/// @param id the same on both sides; replicas are chosen by it
/// @param promptTokens whose cache prefill has computed
/// @param cachedTokens of the prompt's start that decode has already, of any number
public record KvRequest(String id, int promptTokens, int cachedTokens) {
  public KvRequest {
    requireNonNull(id, "id");
    Checks.notNegative("promptTokens", promptTokens);
    Checks.notNegative("cachedTokens", cachedTokens);
    if (cachedTokens > promptTokens) {
      throw new IllegalArgumentException(
          "cachedTokens must be <= promptTokens %d (was %d)".formatted(promptTokens, cachedTokens));
    }
  }
}
