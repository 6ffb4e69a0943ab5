package io.penstock.examples.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import io.penstock.examples.tiers.TiersReport.Step;
import io.penstock.node.text.Json;
import io.penstock.storage.EngineKind;
import io.penstock.storage.JournalStore;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.StackOptions;
import io.penstock.tier.TierStat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
final class TiersCommandTest {

  private final ConsoleCapture capture = new ConsoleCapture();
  @TempDir
  Path directory;

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = "CHRONICLE")
  void exclusiveBlocks_areDemotedAndPromoted_andTheDiskKeepsItsCopies(EngineKind engine) throws IOException {
    demoteAndPromote(engine);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource
  void exclusiveBlocks_onEveryEngine_areDemotedAndPromoted(EngineKind engine) throws IOException {
    demoteAndPromote(engine);
  }

  private void demoteAndPromote(EngineKind engine) throws IOException {
    TiersReport report = report(engine, StackOptions.Mode.EXCLUSIVE);

    List<Step> steps = report.first().steps();
    assertThat(of(steps.get(0), TierStat.Level::blocks)).containsExactly(16L, 24L, 24L);
    assertThat(of(steps.get(0), TierStat.Level::storedBlocks)).containsExactly(16L, 24L, 24L);
    assertThat(of(steps.get(1), TierStat.Level::hits)).as("from the disk").containsExactly(0L, 0L, 16L);
    assertThat(of(steps.get(2), TierStat.Level::hits)).as("promoted").containsExactly(16L, 0L, 16L);
    assertThat(of(steps.get(3), TierStat.Level::hits)).as("the others").containsExactly(16L, 24L, 40L);
    assertThat(report.first().receipts()).isEqualTo(Map.of(Durability.VOLATILE, 64L));
    assertThat(report.second().recovered()).isBetween(40L, 48L);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = "PLAIN")
  void writtenThrough_everyReceiptIsKeptByTheDisk(EngineKind engine) throws IOException {
    writeThrough(engine);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource
  void writtenThrough_everyReceiptIsKeptByTheDisk_whateverItsEngine(EngineKind engine) throws IOException {
    writeThrough(engine);
  }

  private void writeThrough(EngineKind engine) throws IOException {
    TiersReport report = report(engine, StackOptions.Mode.WRITE_THROUGH);

    assertThat(report.first().receipts()).isEqualTo(Map.of(Durability.WRITTEN, 64L));
    assertThat(of(report.first().steps().getFirst(), TierStat.Level::storedBlocks)).containsExactly(16L, 24L, 64L);
    assertThat(report.second().recovered()).isEqualTo(64);
  }

  @Test
  void keptFolder_isFoundByTheNextRun() throws IOException {
    report(EngineKind.PLAIN, StackOptions.Mode.WRITE_THROUGH);
    ConsoleCapture second = new ConsoleCapture();

    assertThat(
        Examples.run(new String[] {"tiers", "--engine", "plain", "--write-through", "--dir", directory.toString()},
            second.console()))
        .as(second.err()).isZero();

    assertThat(second.out())
        .contains("on disk before 64 of 64, receipts none, after reopening 64 of 64\nwritten through: ")
        .endsWith(" 0 wrong, 0 leaked\n");
  }

  @Test
  void keptFolder_withBlocksOfAnotherRun_countsEachForItself() throws IOException {
    report(EngineKind.PLAIN, StackOptions.Mode.EXCLUSIVE);
    for (int run = 0; run < 2; run++) {
      ConsoleCapture next = new ConsoleCapture();
      assertThat(Examples.run(new String[] {"tiers", "--engine", "plain", "--seed", "2", "--dir", directory.toString()},
          next.console()))
          .as(next.err()).isZero();
      assertThat(next.out()).as("run %d", run)
          .containsPattern("on disk before \\d+ of 64 and \\d+ of other runs, receipts")
          .containsPattern("after reopening (\\d|[1-5]\\d|6[0-4]) of 64\nexclusive: a block is on one level, ");
    }
  }

  @Test
  void lockedFolder_hasTheCodeOfEveryCommand() {
    JournalStore holder =
        JournalStore.open(Tiers.SPACE,
            new TiersOptions(directory, EngineKind.PLAIN, StackOptions.Mode.EXCLUSIVE, 1).journal());
    try {
      assertThat(run("tiers", "--engine", "plain", "--dir", directory.toString())).isEqualTo(74);
      assertThat(capture.err()).contains("must be opened by one process at a time");
    } finally {
      holder.close().block();
    }
  }

  @Test
  void table_hasAColumnForEachLevel() {
    Path fresh = directory.resolve("new/er");
    assertThat(run("tiers", "--engine", "plain", "--dir", fresh.toString())).as(capture.err()).isZero();

    assertThat(capture.err()).contains("made the folder " + fresh + "\n");
    assertThat(capture.out()).contains(" receipts 64 volatile, after reopening ");
    assertThat(fresh).isDirectory();

    assertThat(capture.out()).contains("hbm 16", "dram 24", "ssd 96", "put 64", "open again", "layer 0 after");
  }

  @Test
  void unknownEngine_isMisuse() {
    assertThat(run("tiers", "--engine", "tape")).isEqualTo(2);
    assertThat(capture.err()).contains("--engine must be one of chronicle, plain (was tape)");
  }

  /// Runs it and asserts what is true of any run.
  private TiersReport report(EngineKind engine, StackOptions.Mode mode) throws IOException {
    String name = engine.name().toLowerCase(Locale.ROOT);
    List<String> args = mode == StackOptions.Mode.WRITE_THROUGH ? List.of("--write-through") : List.of();
    String[] line = Stream.concat(List.of("tiers", "--json", "--engine", name, "--dir", directory.toString()).stream(),
        args.stream()).toArray(String[]::new);
    assertThat(run(line)).as(capture.err() + capture.out()).isZero();
    assertThat(capture.err()).contains("tiers: putting 64 blocks of 1 MiB\n",
        "tiers: reading what is left, after the folder was opened again\n");
    assertThat(capture.out().lines()).as("JSON alone").hasSize(1);
    TiersReport report = Json.MAPPER.readValue(capture.out(), TiersReport.class);
    assertThat(report.isGood()).isTrue();
    assertThat(report.mode()).isEqualTo(mode);
    assertThat(report.first().fromDisk().slices()).isEqualTo(Tiers.SPACE.layout().layers());
    assertThat(report.first().fromDisk().firstMillis()).isPositive().isLessThan(report.first().fromDisk().lastMillis());
    return report;
  }

  private static List<Long> of(Step step, ToLongFunction<TierStat.Level> figure) {
    return step.levels().stream().map(figure::applyAsLong).toList();
  }

  private int run(String... args) {
    return Examples.run(args, capture.console());
  }
}
