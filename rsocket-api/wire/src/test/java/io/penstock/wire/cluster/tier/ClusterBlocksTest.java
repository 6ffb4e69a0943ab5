package io.penstock.wire.cluster.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Medium;
import io.penstock.tier.TierEvent;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class ClusterBlocksTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final ClusterEvents.Start A = new ClusterEvents.Start("a", 1);
  private static final ClusterEvents.Start B = new ClusterEvents.Start("b", 1);

  private final ClusterBlocks blocks = new ClusterBlocks();

  private List<TierEvent> has(ClusterEvents.Start who, List<BlockKey> keys) {
    List<TierEvent> all = new ArrayList<>();
    for (BlockKey key : keys) {
      blocks.events(who, new TierEvent.Stored(1, key, List.of(new TierEvent.Level("dram", Medium.HOST))))
          .forEach(all::add);
    }
    return all;
  }

  @Test
  void whatAMemberHad_isForgottenAFewBlocksAtATime_asTheReaderTakesThem() {
    has(A, Blocks.keys(SPACE, 0, 4 * ClusterBlocks.PIECE));
    has(B, Blocks.keys(SPACE, 0, 10));
    AtomicBoolean forgotten = new AtomicBoolean();
    Iterator<TierEvent> events = blocks.gone(A, () -> forgotten.set(true)).iterator();
    assertThat(blocks.size()).isEqualTo(4 * ClusterBlocks.PIECE);
    assertThat(events.hasNext()).isTrue();
    assertThat(blocks.size()).isBetween(3 * ClusterBlocks.PIECE, 3 * ClusterBlocks.PIECE + 10);
    assertThat(forgotten).isFalse();

    List<TierEvent> all = new ArrayList<>();
    events.forEachRemaining(all::add);
    assertThat(forgotten).isTrue();
    assertThat(blocks.size()).isEqualTo(10);
    assertThat(all).filteredOn(TierEvent.Lost.class::isInstance).hasSize(4 * ClusterBlocks.PIECE - 10);
    assertThat(all).filteredOn(TierEvent.Moved.class::isInstance).hasSize(10);
  }

  @Test
  void aMemberThatTellsAllAgain_hasNothingBefore() {
    has(A, Blocks.keys(SPACE, 0, 5));
    List<TierEvent> told = new ArrayList<>();
    blocks.events(A, new TierEvent.SnapshotStarted(0, List.of())).forEach(told::add);
    assertThat(told).hasSize(5).allSatisfy(event -> assertThat(event).isInstanceOf(TierEvent.Lost.class));
    assertThat(has(A, Blocks.keys(SPACE, 0, 1))).hasSize(1);
    assertThat(blocks.size()).isOne();
  }
}
