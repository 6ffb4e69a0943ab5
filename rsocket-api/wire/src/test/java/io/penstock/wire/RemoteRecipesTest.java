package io.penstock.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.LoadPrefix;
import io.penstock.flow.OffloadPrefix;
import io.penstock.stage.Fetch;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Receipt;
import io.penstock.wire.client.RemoteTier;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/// The recipes of the kernel run against a node.
@Timeout(60)
final class RemoteRecipesTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();

  @ParameterizedTest
  @EnumSource
  void prefix_isOffloadedAndLoaded(Link link) {
    try (WireNode node = WireNode.of(link, SPACE, 4)) {
      BlockTier tier = new RemoteTier(node.client(4), SPACE);
      SlabArena made = node.arena(16);
      List<BlockKey> keys = node.keys(0, 10);

      assertEquals(keys, all(scope -> Flux.fromIterable(keys).map(key -> scope.adopt(Blocks.block(made, key)))
          .transform(OffloadPrefix.blocks(tier, OffloadPrefix.Options.defaults(), Schedulers.single()))
          .map(Receipt::key)));

      List<BlockKey> more = node.keys(0, 12); // two of them are missing
      assertEquals(keys, all(scope -> LoadPrefix.blocks(tier, more, Fetch.Options.defaults(), scope)
          .doOnNext(Blocks::assertBytes).doOnNext(Block::close).map(Block::key)));
      assertEquals(10 * SPACE.layout().blockBytes(),
          all(scope -> LoadPrefix.layers(tier, more, SliceShape.defaults(), scope).map(slice -> {
            try (slice) {
              slice.spans().forEach(Blocks::assertBytes);
              return slice.bytes();
            }
          })).stream().mapToInt(bytes -> bytes).sum());
      node.requireHonestTier(keys);
    }
  }

  private static <T> List<T> all(Function<BlockScope, Flux<T>> body) {
    return Flux.using(BlockScope::new, body, BlockScope::close).collectList().blockOptional(WireNode.PATIENCE)
        .orElseThrow();
  }
}
