package io.penstock.lab.bench.disk;

import io.penstock.lab.bench.side.Bench;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.ReportFiles;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.SizeOption;
import io.penstock.node.option.TimeOption;
import io.penstock.node.text.Json;
import io.penstock.storage.EngineKind;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `penstock bench reclaim`: the cost of compaction for readers and the disk.
@Command(
    name = "reclaim",
    description = {"Measures what compaction costs readers and the disk.", "",
      "Fills a journal, overwrites random blocks until compaction is steady, then reads blocks at a fixed rate:"
          + " first while nothing is put, then while blocks are put at a fixed rate, which makes compaction move"
          + " others. A read's time counts from the moment it was due.",
      "",
      "Exits with 1 if the p99 of reads is more than twice its value without puts, or if the write amplification"
          + " differs from its model by more than a tenth; with 74 if nothing could be measured.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench reclaim --report reclaim.html", ""})
public final class ReclaimCommand extends Bench<ReclaimReport> {
  @Option(names = "--dir", paramLabel = "FOLDER",
      description = "A folder on the disk that is measured; the bench deletes what it writes there (default: a"
          + " temporary folder). "
          + Folders.MADE)
  private @Nullable Path dir;

  @Option(names = "--engine", paramLabel = "NAME",
      description = "chronicle or plain (default: ${DEFAULT-VALUE}).", defaultValue = "chronicle")
  private EngineKind engine = EngineKind.CHRONICLE;

  @Option(names = "--live", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes of live blocks (default: ${DEFAULT-VALUE}).", defaultValue = "512MiB")
  private long live;

  @Option(names = "--live-share", paramLabel = "X",
      description = "Live bytes as a share of all bytes held (default: ${DEFAULT-VALUE}).", defaultValue = "0.8")
  private double liveShare;

  @Option(names = "--block-bytes", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes of a block (default: ${DEFAULT-VALUE}).", defaultValue = "256KiB")
  private long blockBytes;

  @Option(names = "--segment", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes of a segment (default: ${DEFAULT-VALUE}).", defaultValue = "8MiB")
  private long segment;

  @Option(names = "--reads", paramLabel = "N", description = "Blocks read in a second (default: ${DEFAULT-VALUE}).",
      defaultValue = "500")
  private int reads;

  @Option(names = "--puts", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes put in a second (default: ${DEFAULT-VALUE}).", defaultValue = "32MiB")
  private long puts;

  @Option(names = "--churn", paramLabel = "X",
      description = "Bytes put beforehand, for each live byte (default: ${DEFAULT-VALUE}).", defaultValue = "3")
  private double churn;

  @Option(names = "--phase", paramLabel = "TIME", converter = TimeOption.class,
      description = "Time of each of the two measurements (default: ${DEFAULT-VALUE}).",
      defaultValue = "30s")
  private Duration phase = Duration.ZERO;

  @Option(names = "--seed", paramLabel = "S", description = "Seed of the random choices (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private long seed;

  @Mixin
  private final ReportFiles reports = new ReportFiles();

  private Supplier<String> page = () -> "";

  ReclaimCommand(Console console) {
    super(console);
  }

  @Override
  protected ReclaimReport measured() throws IOException {
    ReclaimLoad load = new ReclaimLoad(engine, live, Math.clamp(blockBytes, 0, Integer.MAX_VALUE), segment, liveShare,
        reads, puts, churn, phase, seed);
    reports.require();
    if (dir != null) {
      Folders.make(console::say, "--dir", dir);
    }
    try (TemporaryFolder place = TemporaryFolder.in(dir, "penstock-bench-")) {
      ReclaimBench bench = new ReclaimBench(load, place.path().resolve("journal"));
      ReclaimReport report = bench.run(console);
      page = () -> ReclaimPage.of(report, load, bench.series());
      return report;
    }
  }

  @Override
  protected void shown(ReclaimReport report) throws IOException {
    reports.write(console, Json.of(report) + "\n", page);
  }
}
