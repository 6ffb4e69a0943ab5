package io.penstock.node.replay.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.party.Delivery;
import org.junit.jupiter.api.Test;

/// What a replay counts as the first layer of a request.
final class TallyTest {
  /// The first bytes of its 3 blocks came after 10 µs, the last first layer after 600 µs, and the last byte after 800
  /// µs.
  private static final Delivery DELIVERY = new Delivery(3, 3, 3, 1, 1, 0, 1, 10_000, 600_000, 800_000);

  @Test
  void firstLayer_isThatOfEveryBlock_inTheTableAndInTheChart() {
    Tally tally = new Tally();
    tally.add(DELIVERY);

    assertThat(tally.firstSlice().p50()).isEqualTo(10);
    assertThat(tally.firstLayerMicros().p50()).isEqualTo(600);
    assertThat(tally.firstLayer().p50()).isEqualTo(0.6);
    assertThat(Micros.of(tally.interval().firstLayers()).p50()).as("the chart").isBetween(594L, 606L);
    assertThat(tally.interval().firstLayers().getTotalCount()).as("the next interval").isZero();
  }

  @Test
  void overlap_isWhatIsLeftOfARequestAtItsFirstLayer() {
    Tally tally = new Tally();
    assertThat(tally.overlap()).isZero();
    tally.add(DELIVERY);

    assertThat(tally.overlap()).isEqualTo(0.25);
  }
}
