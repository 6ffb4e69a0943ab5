package io.penstock.node.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class ProgressTest {
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final AtomicLong now = new AtomicLong();

  private Progress progress(boolean isTerminal, String unit, long unitSize) {
    Console console = new Console(InputStream.nullInputStream(), new PrintStream(OutputStream.nullOutputStream()),
        new PrintStream(err, true, StandardCharsets.UTF_8), isTerminal, Map.of());
    return Progress.of(console, "work", unit, unitSize, now::get);
  }

  @Test
  void withoutTerminal_saysALineEachTenSeconds_withRateAndTimeLeft() {
    try (Progress progress = progress(false, "kills", 1)) {
      for (int second = 1; second <= 25; second++) {
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        progress.at(2L * second, 5000);
      }
    }
    assertThat(err).hasToString("work: 20 of 5,000 kills, 2.00 a second, 41 min 30 s left\n"
        + "work: 40 of 5,000 kills, 2.00 a second, 41 min 20 s left\n");
  }

  @Test
  void withoutTerminal_knowsNoTimeLeftBeforeAnythingIsDone_andCountsInUnits() {
    try (Progress progress = progress(false, "MiB", 1 << 20)) {
      now.addAndGet(Progress.EVERY_NANOS);
      progress.at(0, 30L << 30);
      now.addAndGet(Progress.EVERY_NANOS);
      progress.at(10L << 30, 30L << 30);
    }
    assertThat(err)
        .hasToString("work: 0 of 30,720 MiB, 0.00 a second\nwork: 10,240 of 30,720 MiB, 512 a second, 40 s left\n");
  }

  @Test
  void withoutTerminal_isSilentAboutWhatIsShort() {
    try (Progress progress = progress(false, "kills", 1)) {
      progress.at(30, 30);
    }
    assertThat(err).hasToString("");
  }

  @Test
  void withoutTerminal_saysAtOnceWhatComesNext() {
    try (Progress progress = progress(false, "kills", 1)) {
      progress.next("the first one starts");
    }
    assertThat(err).hasToString("work: the first one starts\n");
  }

  @Test
  void onATerminal_drawsABar() {
    try (Progress progress = progress(true, "kills", 1)) {
      progress.next("the first one starts");
      progress.at(15, 30);
    }
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("work", "15/30");
  }

  @Test
  void interrupted_addsWhatElseThereIsToSay() {
    try (Progress progress = progress(false, "blocks", 1)) {
      progress.soFar("3 of them new");
      assertThat(progress.interrupted()).isEqualTo("work: interrupted before anything was done");
      progress.at(7, 10);
      assertThat(progress.interrupted()).isEqualTo("work: interrupted after 7 of 10 blocks, 3 of them new");
    }
  }

  @Test
  void interrupted_saysHowFarItCame() {
    try (Progress progress = progress(false, "MiB", 1 << 20)) {
      assertThat(progress.interrupted()).isEqualTo("work: interrupted before anything was done");
      progress.at(1234L << 20, 30L << 30);
      assertThat(progress.interrupted()).isEqualTo("work: interrupted after 1,234 of 30,720 MiB");
    }
  }
}
