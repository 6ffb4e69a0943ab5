package io.penstock.node.cluster.hot;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.CacheSpace;
import io.penstock.stack.HostTier;
import io.penstock.tier.BlockTier;
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
}
