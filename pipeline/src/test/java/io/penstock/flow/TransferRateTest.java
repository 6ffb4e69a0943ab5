package io.penstock.flow;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.flow.LoadPrefix.Rate;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class TransferRateTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final long FRESH = 60 * SECOND;

  private final TransferRate rate = new TransferRate(Duration.ofSeconds(10));

  /// A transfer of `bytes` that took `nanos`, ended at `now`.
  private void observe(long bytes, long nanos, long now) {
    TransferRate.Transfer transfer = rate.begin(bytes);
    transfer.arrived(bytes);
    transfer.end(nanos, now);
  }

  private Rate estimate(long now) {
    return requireNonNull(rate.estimate(now, FRESH));
  }

  @Test
  void nothingIsKnown_beforeATransferHasEnded() {
    assertThat(rate.estimate(0, FRESH)).isNull();
    TransferRate.Transfer first = rate.begin(100);
    assertThat(rate.estimate(0, FRESH)).isNull();
    first.end(SECOND, SECOND);
    assertThat(rate.estimate(SECOND, FRESH)).as("nothing arrived").isNull();
  }

  @Test
  void latencyAndBandwidth_areFound() {
    Random random = new Random(1);
    for (int i = 0; i < 50; i++) {
      long bytes = 1_000_000L + random.nextInt(10_000_000);
      observe(bytes, 5_000_000 + bytes, i * SECOND / 10); // 5 ms, and 1 GB/s
    }
    assertThat(estimate(5 * SECOND).bytesPerSecond()).isCloseTo(1e9, within(1e6));
    assertThat(estimate(5 * SECOND).latencyNanos()).isCloseTo(5_000_000, within(10_000L));
    assertThat(estimate(5 * SECOND).nanos(20_000_000)).isCloseTo(25_000_000, within(100_000L));
  }

  @Test
  void transfersOfOneSize_tellABandwidthAlone() {
    observe(1_000_000, 2_000_000, 0);
    observe(1_000_000, 4_000_000, 0);
    assertThat(estimate(0)).isEqualTo(new Rate(1e9 / 3, 0, 0));
  }

  @Test
  void wrongEstimate_isCorrectedByWhatFollows() {
    observe(1_000_000, SECOND, 0); // 1 MB/s
    for (int i = 1; i <= 40; i++) {
      observe(1_000_000, 1_000_000, i * SECOND); // 1 GB/s
    }
    assertThat(estimate(40 * SECOND).nanos(1_000_000)).isLessThan(10_000_000);
  }

  @Test
  void estimate_thatIsOld_isForgotten_unlessATransferIsUnderWay() {
    observe(1_000_000, 1_000_000, 0);
    assertThat(rate.estimate(FRESH - 1, FRESH)).isNotNull();
    assertThat(rate.estimate(FRESH, FRESH)).isNull();
    TransferRate.Transfer again = rate.begin(500);
    assertThat(estimate(FRESH).queuedBytes()).isEqualTo(500);
    again.end(1, FRESH);
    assertThat(rate.estimate(FRESH, FRESH)).as("a transfer of which nothing arrived").isNull();
  }

  @Test
  void transfersAtTheSameTime_shareThePlace_andAreQueued() {
    TransferRate.Transfer one = rate.begin(1_000_000);
    TransferRate.Transfer two = rate.begin(1_000_000);
    two.arrived(1_000_000);
    two.end(2_000_000, 0); // half of 1 GB/s, beside another one
    assertThat(estimate(0)).isEqualTo(new Rate(1e9, 0, 1_000_000));
    one.arrived(400_000);
    assertThat(estimate(0).queuedBytes()).isEqualTo(600_000);
    one.end(1, 0);
    one.end(1, 0);
    assertThat(estimate(0).queuedBytes()).isZero();
  }
}
