package io.penstock.node.cluster.hot;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.device.ascend.AscendListener;
import io.penstock.node.setting.Capacity;
import io.penstock.node.tiers.NodeMemory;
import io.penstock.node.tiers.NodeTiers;
import io.penstock.node.tiers.TierPlan;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import io.penstock.wire.server.space.NodeSpaces;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

final class CountedSpacesTest {
  @Test
  void aSpaceThatHasEnded_isNotRemembered_andOneThatStaysKeepsItsTier() {
    List<BlockTier> tiers = new ArrayList<>(List.of(new HostTier(HotNodes.SPACE, 1, TierListener.noop()),
        new HostTier(HotNodes.SPACE, 1, TierListener.noop())));
    List<BlockTier> all = List.copyOf(tiers);
    CountedSpaces spaces = new CountedSpaces(new NodeSpaces() {
      @Override
      public List<BlockTier> tiers() {
        return List.copyOf(tiers);
      }

      @Override
      public Mono<BlockTier> open(CacheSpace space) {
        return Mono.empty();
      }

      @Override
      public boolean areOpen() {
        return false;
      }
    }, new Demand(HotCopies.HALF_LIFE, () -> 0));
    List<BlockTier> before = spaces.tiers();
    assertThat(spaces.remembered()).isEqualTo(2);
    tiers.removeFirst();
    assertThat(spaces.tiers()).containsExactly(before.get(1));
    assertThat(spaces.remembered()).isOne();
    all.forEach(tier -> tier.close().block());
  }

  /// The tiers of a node share blocks in memory at once, and that counts as a read.
  @Test
  void blocksInMemory_areSharedAtOnce_andCount() {
    TierPlan plan = TierPlan.dram(HotNodes.SPACE, Capacity.ofBlocks(32));
    NodeTiers tiers = requireNonNull(
        NodeTiers.open(plan, NodeMemory.of(plan), TierListener.noop(), AscendListener.noop()).block());
    Demand demand = new Demand(HotCopies.HALF_LIFE, () -> 0);
    BlockTier served = new CountedTier(tiers, demand);
    List<BlockKey> keys = Blocks.keys(HotNodes.SPACE, 0, 2);
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = requireNonNull(served.reserve(keys.subList(0, 1), scope).block());
      reservation.drafts().forEach(Blocks::produce);
      reservation.commit(reservation.drafts()).block();
    }

    List<LeasedBlock> shared = requireNonNull(served.tryGet(keys, null), "it lies in memory");

    assertThat(shared).singleElement().satisfies(leased -> assertThat(leased.position()).isZero());
    shared.forEach(leased -> leased.block().close());
    assertThat(demand.rate(keys.get(0))).isPositive();
    assertThat(demand.rate(keys.get(1))).isZero();
    served.close().block();
  }
}
