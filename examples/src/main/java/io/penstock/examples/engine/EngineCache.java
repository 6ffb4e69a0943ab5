package io.penstock.examples.engine;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.wire.PenstockClient;
import java.util.Arrays;
import reactor.core.publisher.Mono;

/// The adapter: keeps the KV rows of an engine's sessions in a node, in blocks of 16 tokens.
record EngineCache(PenstockClient client) {
  static Mono<EngineCache> connect(String node, ToyEngine engine) {
    return PenstockClient.connect(node, space(engine)).map(EngineCache::new);
  }

  /// The space of the engine's blocks. New weights, or another version of the engine, are another space.
  static CacheSpace space(ToyEngine engine) {
    return CacheSpace.of(engine.name(),
        BlockLayout.attention(engine.layers(), 16, engine.heads(), engine.headDim(), ElementType.FP32))
        .withFingerprint(engine.weightsDigest() + " toy 1");
  }

  /// Loads the longest prefix of `prompt` that the node has, but for the last token, which an engine has to compute.
  ///
  /// @return number of tokens that the session has now
  Mono<Integer> load(ToyEngine.Session session, int[] prompt) {
    return client.load(Arrays.copyOf(prompt, prompt.length - 1), session::row);
  }

  /// Offloads the first `tokens` of a session.
  Mono<Long> offload(ToyEngine.Session session, int[] tokens) {
    return client.offload(tokens, session::row);
  }
}
