package io.penstock.node.cluster.hot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.simulate.LinkPlan;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// One block that 64 clients read again and again from a cluster of 8 nodes: the real protocol over simulated links,
/// which bound each connection alone. So that a node has a bound, too, as by its network card, this model has its
/// blocks leave one after the other, eight a second.
@Timeout(120)
final class HotThroughputTest {
  private static final double SENDS = 8;
  private static final int CLIENTS = 64;
  private static final int NODES = 8;
  private static final int SECONDS = 10;

  @Test
  void oneBlockThatManyRead_isReadThreeTimesAsFast_asOneOwnerSendsIt() {
    double alone = readsPerSecond(false);
    double shared = readsPerSecond(true);
    System.out.printf("%d clients, %d nodes: %.0f reads/s of one owner, %.0f with copies, ratio %.2f%n", CLIENTS, NODES,
        alone, shared, shared / alone);
    assertThat(alone).as("the bound of the model").isCloseTo(SENDS, within(0.1));
    assertThat(shared / alone).isGreaterThanOrEqualTo(3);
  }

  private static double readsPerSecond(boolean copies) {
    long rate = (long) (SENDS / 2 * HotNodes.BLOCK);
    try (HotNodes nodes = new HotNodes(64, rate, LinkPlan.quiet()).add(NODES, SENDS, copies).addReaders(CLIENTS)) {
      nodes.node("ne").put(PutTerms.plain(), HotNodes.key());
      nodes.readsOn(HotNodes.key());
      nodes.pass(25);
      long before = nodes.read;
      nodes.pass(SECONDS);
      assertThat(nodes.holders(HotNodes.key())).hasSize(copies ? NODES : 1);
      return (nodes.read - before) / (double) SECONDS;
    }
  }
}
