package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.tier.OnMiss;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/// What a [BlockTier] promises to who reads what was put.
interface TierReadContract extends TierSteps {
  @Test
  default void get_ofWhatWasPut_answersTheSameBytesInKeyOrder() {
    BlockTier tier = tier(8);
    put(tier, keys(0, 5));
    List<BlockKey> asked = List.of(key(4), key(0), key(2));
    assertThat(got(tier, asked)).isEqualTo(asked);
  }

  @Test
  default void get_ofAbsentKeys_leavesThemOut() {
    BlockTier tier = tier(8);
    assertThat(got(tier, keys(0, 3))).isEmpty();
    assertThat(got(tier, List.of())).isEmpty();
    put(tier, List.of(key(1)));
    assertThat(got(tier, keys(0, 3))).containsExactly(key(1));
  }

  @Test
  default void get_isCold_andWithDemandOfOneAnswersOneBlock() {
    BlockTier tier = tier(8);
    put(tier, keys(0, 4));
    try (BlockScope scope = new BlockScope()) {
      Flux<Block> blocks = tier.get(keys(0, 4), scope);
      assertThat(scope.open()).isZero();
      Collector<Block> reader = new Collector<>(1);
      blocks.subscribe(reader);
      await("one block", () -> reader.seen() == 1);
      assertThat(reader.seen()).isEqualTo(1);
      reader.ask(3);
      await("all blocks", reader::isOver);
      assertThat(reader.seen()).isEqualTo(4);
    }
  }

  @Test
  default void matchAndContains_tellWhatIsVisible() {
    BlockTier tier = tier(8);
    put(tier, List.of(key(0), key(1), key(3)));
    assertThat(value(tier.match(keys(0, 5)))).isEqualTo(2);
    assertThat(value(tier.match(keys(2, 5)))).isZero();
    assertThat(value(tier.match(List.of()))).isZero();
    assertThat(value(tier.contains(keys(0, 5)))).isEqualTo(presence(5, 0, 1, 3));
  }

  @Test
  default void matchAndContains_areNoUse_butALeaseIs() {
    BlockTier tier = tier(2);
    put(tier, keys(0, 2));
    value(tier.match(keys(0, 1)));
    value(tier.contains(keys(0, 1)));
    put(tier, keys(2, 3));
    assertThat(value(tier.contains(keys(0, 3)))).as("0 was the least recently used").isEqualTo(presence(3, 1, 2));
    assertThat(got(tier, keys(1, 2))).hasSize(1);
    put(tier, keys(3, 4));
    assertThat(value(tier.contains(keys(0, 4)))).as("1 was used").isEqualTo(presence(4, 1, 3));
  }

  @Test
  default void keys_thatAreDuplicatesOrOfAnotherSpace_areRefusedAtCallTime() {
    BlockTier tier = tier(8);
    BlockScope scope = new BlockScope();
    List<BlockKey> foreign = List.of(Blocks.key(CacheSpace.of("another", SPACE.layout()), 1));
    for (List<BlockKey> bad : List.of(List.of(key(1), key(2), key(1)), foreign)) {
      assertThatThrownBy(() -> tier.match(bad)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.contains(bad)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.lease(bad, OnMiss.SKIP, scope)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.get(bad, scope)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.reserve(bad, scope)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.remove(bad)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  default void info_saysWhatTheTierIs() {
    BlockTier tier = tier(8);
    assertThat(tier.info().space()).isEqualTo(SPACE);
    assertThat(tier.info().name()).isNotBlank();
    assertThat(tier.info().capacityBlocks()).isEqualTo(8);
  }
}
