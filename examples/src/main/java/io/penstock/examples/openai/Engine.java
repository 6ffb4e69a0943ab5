package io.penstock.examples.openai;

import java.util.List;

/// An engine that an [EngineServer] serves: a tokenizer, and a function that continues tokens. It decodes greedily, so
/// that temperatures and seeds of requests change nothing.
///
/// Methods but [#generate] are quick and safe from any thread.
public interface Engine {
  /// Name of the model, as `/v1/models` lists it.
  String model();

  /// Most tokens of a prompt and its answer together.
  int maxTokens();

  /// Tokens of a prompt.
  int[] encode(String text);

  /// Tokens of a conversation, after which the model answers.
  default int[] encode(List<ChatMessage> messages) {
    return encode(ChatMessage.prompt(messages));
  }

  /// UTF-8 of one token. A character may be spread over several tokens. Empty for tokens without text.
  byte[] bytes(int token);

  /// Part of the memory for KV caches that is in use, from 0 to 1.
  double cacheUsage();

  /// A request has come, and may wait for a slot.
  ///
  /// @return is run when the request has ended, whether or not it was computed
  /// @throws IllegalArgumentException if the request is wrong; the client gets the message
  default Runnable arrived(EngineRequest request) {
    return () -> {};
  }

  /// Answers one request on the calling thread. The server calls this on as many threads as it has slots.
  ///
  /// @param output gets how much of the prompt was cached, then each token when it is computed; the token that ends an
  ///     answer is not put out
  /// @throws InterruptedException if the thread is interrupted: the client has gone, or the text has reached a stop
  /// @throws IllegalArgumentException if the request is wrong; the client gets the message
  EngineResult generate(EngineRequest request, EngineOutput output) throws InterruptedException;
}
