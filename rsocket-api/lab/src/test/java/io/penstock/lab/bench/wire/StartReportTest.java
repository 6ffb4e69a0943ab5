package io.penstock.lab.bench.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.bench.side.BenchTransport;
import io.penstock.lab.bench.side.Direction;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.wire.StartReport.Measured;
import io.penstock.wire.transport.CongestionControl;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StartReportTest {
  private static final SideSetting SETTING = new SideSetting(BenchTransport.TCP, CongestionControl.AUTOMATIC, 8, 4, 1,
      1 << 20, false, Duration.ZERO, Duration.ofSeconds(1), Duration.ZERO, 1);

  /// @param megabytes of each second
  private static StartReport report(long... megabytes) {
    List<Measured> seconds = Arrays.stream(megabytes)
        .mapToObj(each -> new Measured(each * 1_000_000, 1_000_000_000, 500_000_000)).toList();
    return StartReport.of(SETTING, Direction.GET, 65_536, 16, 2_000_000_000, seconds);
  }

  @Test
  void steadyRate_isTheMedianOfTheLastThird_andTheFirstGoodSecondIsTold() {
    StartReport report = report(250, 500, 799, 800, 1000, 900, 1000, 1200, 1000);

    assertThat(report.steadyGigabytesPerSecond()).isEqualTo(1.0);
    assertThat(report.goodSecond()).isEqualTo(4);
    assertThat(report.seconds().get(1).ofSteady()).isEqualTo(0.5);
    assertThat(report.seconds().get(1).soFarOfSteady()).isEqualTo(0.375);
    assertThat(report.table()).contains("0.8 of the steady rate in second 4", "the steady rate is 1.00 GB/s");
  }

  @Test
  void noRate_isZero_andNoNumberIsMissing() {
    StartReport report = report(0, 0, 0);
    assertThat(report.goodSecond()).isZero();
    assertThat(report.seconds()).allSatisfy(second -> {
      assertThat(second.ofSteady()).isZero();
      assertThat(second.soFarOfSteady()).isZero();
    });
    assertThat(report.table()).contains("no steady rate").doesNotContain("NaN");
  }
}
