package io.penstock.examples.spring;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.flow.LoadPrefix;
import io.penstock.flow.OffloadPrefix;
import io.penstock.flow.ProducingSource;
import java.util.List;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Both sides of an engine, for prompts of tokens. `contextCapture()` carries the trace of the HTTP request into the
/// node.
@RestController
final class PromptController {
  private final CacheNode node;

  PromptController(CacheNode node) {
    this.node = node;
  }

  /// Computes the blocks of a prompt that the node does not have, and answers how many it stored.
  @PostMapping("/prefill")
  Mono<Long> prefill(@RequestBody int[] prompt) {
    ProducingSource computing = new ProducingSource(node.arena(), SliceShape.Order.LAYER_FIRST,
        (block, range, memory) -> memory.fill((byte) 42));
    List<BlockKey> keys = node.keys(prompt);
    return Flux.just(keys).transform(OffloadPrefix.layers(node.remote(), SliceShape.defaults(), computing)).count()
        .contextCapture();
  }

  /// Loads the longest prefix of a prompt that the node has, every byte verified, and answers its bytes.
  @PostMapping("/decode")
  Mono<Long> decode(@RequestBody int[] prompt) {
    return Flux.using(BlockScope::new,
        scope -> LoadPrefix.layers(node.remote(), node.keys(prompt), SliceShape.defaults(), scope).map(slice -> {
          try (slice) {
            return (long) slice.bytes();
          }
        }), BlockScope::close).reduce(0L, Long::sum).contextCapture();
  }
}
