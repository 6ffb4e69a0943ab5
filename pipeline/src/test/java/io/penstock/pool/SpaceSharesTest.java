package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.pool.share.SpaceShares;
import org.junit.jupiter.api.Test;

final class SpaceSharesTest {
  private static final long NONE = Long.MAX_VALUE;

  @Test
  void bytesAreDividedByWeight() {
    SpaceShares<String> shares = new SpaceShares<>(1000);
    shares.add("a", 1, NONE);
    assertThat(shares.share("a")).isEqualTo(1000);
    shares.add("b", 3, NONE);
    assertThat(shares.share("a")).isEqualTo(250);
    assertThat(shares.share("b")).isEqualTo(750);
  }

  @Test
  void whatAQuotaKeepsFromOne_goesToTheOthers() {
    SpaceShares<String> shares = new SpaceShares<>(1000);
    shares.add("a", 1, NONE);
    shares.add("b", 2, 100);
    shares.add("c", 2, NONE);
    assertThat(shares.share("b")).isEqualTo(100);
    assertThat(shares.share("a")).isEqualTo(300);
    assertThat(shares.share("c")).isEqualTo(600);
  }

  @Test
  void aMemberMayTakeWhatOthersLeave_upToItsQuota_andDemandsItsShareAlone() {
    SpaceShares<String> shares = new SpaceShares<>(1000);
    shares.add("a", 1, 600);
    shares.add("b", 1, NONE);
    assertThat(shares.mayTake("a")).isEqualTo(600);
    assertThat(shares.mayDemand("a")).isEqualTo(500);
    shares.hold("a", 550);
    assertThat(shares.mayTake("a")).isEqualTo(50);
    assertThat(shares.mayDemand("a")).isZero();
    assertThat(shares.aboveShare("a")).isEqualTo(50);
    assertThat(shares.aboveShare()).containsExactly("a");
    shares.hold("a", -50);
    assertThat(shares.aboveShare()).isEmpty();
  }

  @Test
  void aWeightThatIsNoPositiveNumber_isRefused() {
    SpaceShares<String> shares = new SpaceShares<>(1000);
    for (double weight : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> shares.add("a", weight, NONE)).isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("weight must be > 0");
    }
  }
}
