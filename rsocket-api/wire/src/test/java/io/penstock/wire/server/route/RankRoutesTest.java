package io.penstock.wire.server.route;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.disagg.request.PrefillConnector.Figures;
import io.penstock.tier.TierHolds.HoldLimitException;
import org.junit.jupiter.api.Test;

final class RankRoutesTest {
  @Test
  void requestsWithoutBlocks_areBoundedToo() {
    Figures full = new Figures(3, 1, 0, 0, 0, 0);
    RankRoutes.requireRoom(full, 5);
    assertThatThrownBy(() -> RankRoutes.requireRoom(full, 4)).isInstanceOf(HoldLimitException.class)
        .hasMessage("kept requests must be <= 4 (was 5)");
  }
}
