package io.penstock.examples.pressure;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import io.penstock.node.cli.Console;
import io.penstock.node.text.Json;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.disk.SyncMode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(300)
final class PressureCommandTest {

  private final ConsoleCapture capture = new ConsoleCapture();
  @TempDir
  Path directory;

  @ParameterizedTest
  @CsvSource({"EXCLUSIVE,INTERVAL,256KiB", "EXCLUSIVE,NONE,64KiB", "WRITE_THROUGH,INTERVAL,64KiB",
    "WRITE_THROUGH,NONE,256KiB"})
  void threeTimesTheMemory_isAcceptedKeptAndThereAtOnce(StackOptions.Mode mode, SyncMode durability, String blockBytes)
      throws IOException {
    PressureReport report = report(mode, durability,
        List.of("--put", "48MiB", "--dram", "16MiB", "--block-bytes", blockBytes, "--layers", "8",
            "--reads", "all", "--cache", "4MiB"));

    assertThat(report.meanwhile().blocks()).isGreaterThan(2L * report.blocks());
    assertThat(report.levels()).extracting(level -> level.hits()).as("reads in memory and on disk")
        .allMatch(hits -> hits > 0);
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).as("the journal is removed").isEmpty();
    }
  }

  @ParameterizedTest
  @Tag("proof")
  @CsvSource({"EXCLUSIVE,INTERVAL,256KiB", "EXCLUSIVE,INTERVAL,1MiB", "EXCLUSIVE,NONE,256KiB",
    "WRITE_THROUGH,INTERVAL,256KiB",
    "WRITE_THROUGH,NONE,1MiB"})
  void threeGibibytes_areAcceptedKeptAndThereAtOnce(StackOptions.Mode mode, SyncMode durability, String blockBytes)
      throws IOException {
    PressureReport report =
        report(mode, durability, List.of("--put", "3GiB", "--dram", "1GiB", "--block-bytes", blockBytes));

    assertThat(report.rates().sustained()).isPositive();
  }

  @Test
  void table_hasTheBaselineOfTheSameRun() {
    assertThat(run("pressure", "--put", "8MiB", "--dram", "4MiB", "--block-bytes", "64KiB", "--engine", "plain",
        "--cache", "unbounded"))
        .as(capture.err()).isZero();

    assertThat(capture.out()).contains("bare files, all of them", "memory alone, which evicts", "once memory was full")
        .endsWith("pressure: 128 blocks of 64 KiB, 0 refused, 0 lost, 0 not there at once, 0 leaked\n");
  }

  @Test
  void table_onATerminal_comesWhenTheBarIsGone() {
    ByteArrayOutputStream terminal = new ByteArrayOutputStream();
    PrintStream both = new PrintStream(terminal, true, StandardCharsets.UTF_8);
    Console console = new Console(InputStream.nullInputStream(), both, both, true, Map.of());

    assertThat(Examples.run(new String[] {"pressure", "--no-baseline", "--put", "8MiB", "--dram", "4MiB",
      "--block-bytes", "64KiB", "--engine", "plain",
      "--cache", "unbounded"}, console)).isZero();

    assertThat(terminal.toString(StandardCharsets.UTF_8)).contains("128/128").endsWith("0 leaked\n");
  }

  @Test
  void memoryForLessThanItsWindows_isMisuse() {
    assertThat(run("pressure", "--put", "8MiB", "--dram", "1MiB", "--block-bytes", "64KiB")).isEqualTo(2);
    assertThat(capture.err()).contains("--dram must be >= 32 blocks of --block-bytes, 64 KiB (was 1 MiB)");
  }

  /// Runs it and asserts what is true of any run.
  private PressureReport report(StackOptions.Mode mode, SyncMode durability, List<String> more) throws IOException {
    List<String> line =
        new ArrayList<>(List.of("pressure", "--json", "--no-baseline", "--dir", directory.toString(), "--durability",
            durability.name().toLowerCase(Locale.ROOT)));
    line.addAll(more);
    if (mode == StackOptions.Mode.WRITE_THROUGH) {
      line.add("--write-through");
    }
    assertThat(run(line.toArray(String[]::new))).as(capture.err() + capture.out()).isZero();
    PressureReport report = Json.MAPPER.readValue(capture.out(), PressureReport.class);
    assertThat(report.isGood()).as(report.toString()).isTrue();
    assertThat(report.mode()).isEqualTo(mode);
    return report;
  }

  private int run(String... args) {
    return Examples.run(args, capture.console());
  }
}
