package io.penstock.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.json.JsonMapper;

/// The short form of [SlowReaderProofTest]: bounds only, for rates need a quiet machine.
@Timeout(60)
final class StreamCommandTest {
  private static final JsonMapper JSON =
      JsonMapper.shared();

  private final ConsoleCapture capture = new ConsoleCapture();

  @Test
  void slowReader_bytesAndMemoryStayWithinTheirBounds() throws IOException {
    assertThat(run("stream", "--seconds", "3", "--second", "1", "--json")).as(capture.err()).isZero();

    StreamReport report = JSON.readValue(capture.out(), StreamReport.class);
    assertThat(report.wrongSpans()).isZero();
    assertThat(report.leakedBlocks()).isZero();
    assertThat(report.readBytes()).isBetween(1L, 3_000_000L + 2 * Shape.SLICE_BYTES);
    assertThat(report.madeBytes()).isLessThanOrEqualTo(report.readBytes() + report.boundBytes());
    assertThat(report.peakInFlightBytes()).isBetween(1L, report.budgetBytes());
    assertThat(report.secondBeside()).isPositive();
    Bounds.assertWithin(report);
  }

  @Test
  void summary_isOneLineAndTheRunIsToldALineASecond() {
    assertThat(run("stream", "--seconds", "1", "--rate", "4MB", "--size", "1MiB")).as(capture.err()).isZero();

    assertThat(capture.out()).matches("stream: read 1\\.00 MiB in .* 0 wrong, 0 leaked\n");
    assertThat(capture.err()).contains("s  made ");
  }

  @Test
  void senselessSize_isMisuse() {
    assertThat(run("stream", "--size", "1TB")).isEqualTo(2);
    assertThat(capture.err()).contains("--size must be from 64 KiB to 4 GiB (was 1 TiB)");
  }

  private int run(String... args) {
    return Examples.run(args, capture.console());
  }
}
