package io.penstock.examples.openai;

import java.util.List;

/// A request of a client, read and checked.
///
/// @param form of the answer
/// @param request for the engine
/// @param stops texts that end the answer
/// @param stream whether the answer comes token by token
/// @param usage whether a stream ends with its usage
/// @param tokenIds whether the answer tells token ids
record GenerationRequest(AnswerForm form, EngineRequest request, List<String> stops, boolean stream, boolean usage,
    boolean tokenIds) {
  GenerationRequest {
    stops = List.copyOf(stops);
  }
}
