package io.penstock.examples.openai;

import io.penstock.examples.openai.EngineResult.Reason;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.SynchronousSink;

/// The answer to one request, which grows with the events of the engine.
final class Answer {
  private final Engine engine;
  private final AnswerText text;
  private final List<Integer> tokens = new ArrayList<>();
  private int cachedTokens;

  /// A part of an answer, with the token that it came with, or -1.
  sealed interface Part {
    record Begin() implements Part {}

    record Delta(String text, int token) implements Part {}

    record End(String text, int token, EngineResult result) implements Part {}
  }

  Answer(Engine engine, GenerationRequest request) {
    this.engine = engine;
    this.text = new AnswerText(request.stops());
  }

  /// Parts of the answer. A stop in the text ends it, and the engine's work.
  Flux<Part> parts(Flux<EngineEvent> events) {
    return events.handle(this::next);
  }

  private void next(EngineEvent event, SynchronousSink<Part> parts) {
    switch (event) {
      case EngineEvent.Prefilled prefilled -> {
        cachedTokens = prefilled.cachedTokens();
        parts.next(new Part.Begin());
      }
      case EngineEvent.Token token -> {
        tokens.add(token.id());
        String certain = text.add(engine.bytes(token.id()));
        if (text.stopped()) {
          parts.next(new Part.End(certain, token.id(), EngineResult.of(Reason.STOP)));
          parts.complete();
        } else {
          parts.next(new Part.Delta(certain, token.id()));
        }
      }
      case EngineEvent.Finished finished -> {
        String rest = text.end();
        parts.next(new Part.End(rest, -1, text.stopped() ? EngineResult.of(Reason.STOP) : finished.result()));
      }
    }
  }

  List<Integer> tokens() {
    return tokens;
  }

  int cachedTokens() {
    return cachedTokens;
  }
}
