package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.replay.report.Tally;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ProgressLinesViewTest {
  private final List<String> lines = new ArrayList<>();
  private long now;

  @Test
  void show_isALineAtOnceAndEveryThreeSeconds() {
    try (ProgressLinesView view = new ProgressLinesView(lines::add, 2_000, () -> now)) {
      view.show(sums(10), 1e9, 1 << 20);
      now += ProgressLinesView.EVERY_NANOS - 1;
      view.show(sums(1_100), 1e9, 1 << 20);
      now++;
      view.show(sums(1_200), 1e9, 1 << 20);
      view.show(sums(1_300), 1e9, 1 << 20);
    }
    assertThat(lines).containsExactly("10 of 2,000 requests, 1.00 GB/s, hits 50.00 %, in flight 1.00 MiB",
        "1,200 of 2,000 requests, 1.00 GB/s, hits 50.00 %, in flight 1.00 MiB");
  }

  @Test
  void end_saysThatAllIsDone_howeverManyWereExpected() {
    try (ProgressLinesView view = new ProgressLinesView(lines::add, -1, () -> now)) {
      view.end(sums(12_031), 2e9);
    }
    assertThat(lines).containsExactly("12,031 of 12,031 requests, 2.00 GB/s, hits 50.00 %, in flight 0 B");
  }

  private static Tally.Sums sums(long requests) {
    return new Tally.Sums(requests, 20, 10, 0, 0, 0, 0, 0);
  }
}
