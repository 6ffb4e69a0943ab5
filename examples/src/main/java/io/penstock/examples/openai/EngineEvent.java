package io.penstock.examples.openai;

/// What happens to a request, in order: one [Prefilled], tokens, one [Finished].
sealed interface EngineEvent {
  record Prefilled(int cachedTokens) implements EngineEvent {}

  record Token(int id) implements EngineEvent {}

  record Finished(EngineResult result) implements EngineEvent {}
}
