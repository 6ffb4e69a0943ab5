package io.penstock.node.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.node.link.StreamTimes;
import io.penstock.wire.report.StreamListener.Report;
import io.penstock.wire.report.StreamListener.Waits;
import org.junit.jupiter.api.Test;

final class StreamTimesTest {
  private static Report took(String route, long millis) {
    return new Report(route, "node", "tcp", false, 1, 0, millis * 1_000_000, Waits.NONE, null, null);
  }

  @Test
  void percentiles_areThoseOfEachRoute() {
    StreamTimes times = new StreamTimes();
    for (int millis = 1; millis <= 100; millis++) {
      times.ended(took("get", millis));
    }
    times.ended(took("put", 7));

    assertThat(times.times()).containsOnlyKeys("get", "put");
    StreamTimes.Times gets = times.times().get("get");
    assertThat(gets.count()).isEqualTo(100);
    assertThat(gets.p50Millis()).isCloseTo(50, within(0.1));
    assertThat(gets.p99Millis()).isCloseTo(99, within(0.1));
    assertThat(times.times().get("put").p99Millis()).isCloseTo(7, within(0.01));
  }
}
