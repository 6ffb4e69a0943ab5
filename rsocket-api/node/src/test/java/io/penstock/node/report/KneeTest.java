package io.penstock.node.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class KneeTest {
  @Test
  void knee_isHighestAboveTheLineToTheCeiling() {
    // Hits of LRU on the conversation trace: 30,000 blocks are 16.4 % of all and have 88.9 % of the ceiling.
    Knee knee = new Knee(182_790, 105_710).add(1_000, 12_831).add(5_000, 31_840).add(10_000, 60_921)
        .add(100_000, 104_924).add(50_000, 102_290).add(30_000, 93_967);

    assertThat(knee.blocks()).contains(30_000L);
  }

  @Test
  void equalHeights_takeTheSmallerCapacity() {
    assertThat(new Knee(64, 64).add(32, 48).add(16, 32).blocks()).contains(16L);
  }

  @Test
  void curveBelowTheLine_hasNone() {
    assertThat(new Knee(100, 100).add(50, 10).add(100, 100).blocks()).isEmpty();
    assertThat(new Knee(8, 0).add(4, 0).blocks()).as("no hits").isEmpty();
  }
}
