package io.penstock.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.process.OtherJvm;
import io.penstock.node.text.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/// A reader of 1 MB/s on a stream of 2 GB, for 30 s, in a JVM of its own whose heap is resident from the start, so that
/// what the system counts moves only by what the flow holds.
@Tag("proof")
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SlowReaderProofTest {
  private static final List<String> FLAGS =
      List.of("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-Dio.netty.leakDetection.level=simple");
  private static final long RESIDENT_SWING_BYTES = 32L << 20;
  private static final double MEAN_SECONDS = 10;
  private static final double NOT_SLOWED = 0.8;

  private StreamReport report;

  @BeforeAll
  void readSlowly() throws IOException, InterruptedException {
    Process process = OtherJvm.start(FLAGS,
        List.of("stream", "--rate", "1000000", "--size", "2000000000", "--seconds", "30", "--second", "4", "--json"));
    try {
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as(out).isZero();
      report = Json.MAPPER.readValue(out, StreamReport.class);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void bytesInFlight_neverExceedTheBudget_byAnyCount() {
    assertThat(report.peakInFlightBytes()).isBetween(1L, report.budgetBytes());
    Bounds.assertWithin(report);
  }

  @Test
  void residentMemory_staysWithin32MiB() {
    StreamReport.Span resident = report.residentBytes();
    System.out.println("resident " + resident + ", netty " + report.nettyBytes());
    assertThat((resident.most() - resident.least()) / 2).isLessThanOrEqualTo(RESIDENT_SWING_BYTES);
  }

  @Test
  void producer_makesAsMuchAsIsReadOverAnyTenSeconds() {
    List<Double> means = means();
    System.out.println("producer's mean over 10 s as part of the reader's rate: "
        + means.stream().mapToDouble(x -> x).summaryStatistics());
    assertThat(means).isNotEmpty().allSatisfy(mean -> assertThat(mean).isBetween(0.9, 1.1));
  }

  @Test
  void secondReader_isNotSlowed() {
    System.out.printf("second reader: %.0f MB/s alone, %.0f MB/s beside%n", report.secondAlone() / 1e6,
        report.secondBeside() / 1e6);
    assertThat(report.secondBeside()).isGreaterThanOrEqualTo(NOT_SLOWED * report.secondAlone());
  }

  @Test
  void cancel_freesEverything() {
    assertThat(report.leakedBlocks()).isZero();
    assertThat(report.wrongSpans()).isZero();
    assertThat(report.readBytes()).isBetween(27_000_000L, 31_000_000L);
  }

  /// The producer's rate over each ten seconds after the first two, as part of the rate that was set.
  private List<Double> means() {
    List<Sample> settled =
        report.samples().stream().filter(sample -> sample.seconds() >= StreamReport.SETTLED).toList();
    List<Double> means = new ArrayList<>();
    int to = 0;
    for (Sample from : settled) {
      while (to < settled.size() && settled.get(to).seconds() - from.seconds() < MEAN_SECONDS) {
        to++;
      }
      if (to < settled.size()) {
        Sample until = settled.get(to);
        means
            .add((until.madeBytes() - from.madeBytes()) / (until.seconds() - from.seconds()) / report.bytesPerSecond());
      }
    }
    return means;
  }
}
