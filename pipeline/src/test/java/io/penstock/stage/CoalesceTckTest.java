package io.penstock.stage;

import io.penstock.block.Block;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageFixtures;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.PublisherVerification;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.Test;
import reactor.core.publisher.Mono;

/// The Reactive Streams rules for a publisher of one element.
@Test
public class CoalesceTckTest extends PublisherVerification<Block> {
  private final SlabArena arena = new SlabArena("tck", Blocks.smallLayout(), 256, 1);

  public CoalesceTckTest() {
    super(new TestEnvironment(500, 50));
  }

  @Override
  public long maxElementsFromPublisher() {
    return 1;
  }

  @Override
  public Publisher<Block> createPublisher(long elements) {
    return get(new Coalesce(
        (key, scope) -> elements == 0 ? Mono.empty() : Mono.fromCallable(() -> scope.adopt(Blocks.block(arena, key))),
        CoalesceOptions.defaults()));
  }

  @Override
  public Publisher<Block> createFailedPublisher() {
    return Mono.error(new IllegalStateException("boom"));
  }

  private static Mono<Block> get(Coalesce coalesce) {
    return coalesce.get(StageFixtures.key(0), new BlockScope());
  }
}
