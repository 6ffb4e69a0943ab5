package io.penstock.examples.engine.transformer;

import io.penstock.examples.openai.EngineServer;
import io.penstock.examples.openai.EngineServerOptions;
import java.time.Clock;
import reactor.core.publisher.Mono;

/// A [TransformerEngine] with its OpenAI endpoint.
///
/// @param model its weights
/// @param http the endpoint
public record TransformerServer(ToyTransformer model, TransformerEngine engine, EngineServer.Running http) {
  /// Starts both.
  ///
  /// @param http `slots` are those of the engine
  /// @return cold; fails if one of them cannot listen
  public static Mono<TransformerServer> start(ToyTransformer model, TransformerOptions options,
      EngineServerOptions http) {
    return TransformerEngine.start(model, options)
        .flatMap(engine -> EngineServer.start(engine, http.withSlots(options.slots()), Clock.systemUTC())
            .map(server -> new TransformerServer(model, engine, server))
            .onErrorResume(error -> engine.close().then(Mono.error(error))));
  }

  /// Ends both, and all requests.
  public Mono<Void> close() {
    return http.close().then(engine.close());
  }
}
