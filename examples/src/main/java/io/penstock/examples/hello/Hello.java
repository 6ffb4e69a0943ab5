package io.penstock.examples.hello;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.wire.PenstockClient;
import io.penstock.wire.PenstockNode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;

/// Starts a node, offloads the KV cache of a prompt into it and loads it again, over TCP, all in one process. The
/// README shows this file.
final class Hello {
  private Hello() {}

  static Mono<Integer> offloadAndLoad() {
    // What a block is: 8 layers of keys and values for 16 tokens, 2 heads × 64 elements of BF16: 64 KiB.
    var space = CacheSpace.of("my-model", BlockLayout.attention(8, 16, 2, 64, ElementType.BF16));
    int[] prompt = IntStream.range(0, 32).toArray(); // the tokens of two blocks

    // An engine has memory for each layer, plane and token. Here all share one row: 2 heads × 64 elements.
    MemorySegment computed = Arena.ofAuto().allocate(256).fill((byte) 42);
    MemorySegment loaded = Arena.ofAuto().allocate(256);

    // The node keeps 1,000 blocks in memory, on a free port. usingWhen closes node and client, whatever happens.
    return Mono.usingWhen(PenstockNode.start(space, 1_000),
        node -> Mono.usingWhen(PenstockClient.connect(node.address(), space),
            client -> client.offload(prompt, (layer, plane, token) -> computed)
                .then(client.load(prompt, (layer, plane, token) -> loaded)),
            PenstockClient::close),
        PenstockNode::close).filter(tokens -> computed.mismatch(loaded) < 0);
  }
}
