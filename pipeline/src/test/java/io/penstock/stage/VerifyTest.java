package io.penstock.stage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceOrder;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

final class VerifyTest extends StageContract<Block, Block> {
  @Override
  protected Stage<Block, Block> stage(BlockScope scope) {
    return Verify.blocks("test");
  }

  @Override
  protected Flux<Block> inputs(int count, BlockScope scope) {
    return StageFixtures.blocks(count, arena, scope);
  }

  @Override
  protected long pulled(long demand) {
    return demand;
  }

  @Test
  void verify_corruptBlock_isClosedAndNamed() {
    List<Block> blocks = new ArrayList<>();
    StepVerifier.create(scoped(scope -> inputs(3, scope).doOnNext(blocks::add)
        .doOnNext(block -> corruptSecond(block, blocks.size())).transform(stage(scope)).doOnNext(Block::close)))
        .expectNextCount(1)
        .expectErrorSatisfies(error -> {
          BlockCorruptException corrupt = (BlockCorruptException) error;
          assertThat(corrupt.key()).isEqualTo(StageFixtures.key(1));
          assertThat(corrupt.granule()).isEqualTo(1);
          assertThat(corrupt).hasMessageContaining("at test");
          assertThat(blocks.get(1).isClosed()).isTrue();
        }).verify(LIMIT);
  }

  @Test
  void verify_corruptSlice_isClosedAndNamed() {
    StepVerifier.create(scoped(scope -> inputs(1, scope).doOnNext(block -> Blocks.corrupt(block, 200))
        .transform(SplitLayers.blocks(StageFixtures.split(128, SliceOrder.LAYER_FIRST), scope))
        .transform(Verify.slices("wire"))))
        .expectNextCount(1).expectError(BlockCorruptException.class).verify(LIMIT);
  }

  private static void corruptSecond(Block block, int number) {
    if (number == 2) {
      Blocks.corrupt(block, 70);
    }
  }
}
