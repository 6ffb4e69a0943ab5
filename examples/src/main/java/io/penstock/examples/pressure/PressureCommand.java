package io.penstock.examples.pressure;

import io.penstock.examples.pressure.PressureReport.Baseline;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.option.SizeOption;
import io.penstock.node.text.Sizes;
import io.penstock.node.tiers.TierRecording;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.EngineKind;
import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.engine.EngineOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `penstock example pressure`.
@Command(name = "pressure", mixinStandardHelpOptions = true,
    description = "Puts more blocks than host memory holds, as fast as they are accepted, into memory over a disk. No"
        + " put is refused: the disk sets the pace. Asks for every block as soon as it has its receipt, reads blocks"
        + " meanwhile and all of them afterwards, and compares every byte. Before that, the same bytes go"
        + " to bare files, and into memory alone.",
    footer = {"", "Example:", "  penstock example pressure --put 3GiB --dram 1GiB --block-bytes 1MiB --dir /mnt/ssd"})
public final class PressureCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--dir", paramLabel = "DIR",
      description = "Folder for a journal, which is made in it and removed (default: a temporary one). " + Folders.MADE)
  private @Nullable Path directory;

  @Option(names = "--put", paramLabel = "SIZE", converter = SizeOption.class, defaultValue = "3GiB",
      description = "Bytes of all blocks (default: ${DEFAULT-VALUE}).")
  private long put;

  @Option(names = "--dram", paramLabel = "SIZE", converter = SizeOption.class, defaultValue = "1GiB",
      description = "All host memory of the tier, what is on its way included (default: ${DEFAULT-VALUE}).")
  private long memory;

  @Option(names = "--block-bytes", paramLabel = "SIZE", converter = SizeOption.class, defaultValue = "1MiB",
      description = "Size of a block (default: ${DEFAULT-VALUE}).")
  private long blockBytes;

  @Option(names = "--layers", paramLabel = "N", defaultValue = "32",
      description = "Layers of a block (default: ${DEFAULT-VALUE}).")
  private int layers;

  @Option(names = "--engine", paramLabel = "ENGINE", defaultValue = "chronicle",
      description = "Engine of the journal: chronicle or plain (default: ${DEFAULT-VALUE}).")
  private EngineKind engine = EngineKind.CHRONICLE;

  @Option(names = "--write-through",
      description = "Writes every block to the disk before it is visible, not when it leaves memory.")
  private boolean writeThrough;

  @Option(names = "--durability", paramLabel = "RULE", defaultValue = "interval",
      description = "When bytes are forced to the medium: none, interval or always (default: ${DEFAULT-VALUE}).")
  private SyncMode durability = SyncMode.INTERVAL;

  @Option(names = "--reads", paramLabel = "HOW", defaultValue = "some",
      description = "Blocks read during the puts: none, some, or all, three times as many as are put "
          + "(default: ${DEFAULT-VALUE}).")
  private ReadBack reads = ReadBack.SOME;

  @Option(names = "--cache", paramLabel = "SIZE", defaultValue = "64MiB",
      description = "Maximum size of the journal in the system's page cache once it is on the medium, or "
          + "unbounded (default: ${DEFAULT-VALUE}).")
  private String cache = "";

  @Option(names = "--no-baseline", description = "Leaves out the bare files and the memory alone.")
  private boolean noBaseline;

  @Option(names = "--seed", paramLabel = "N",
      description = "Seed of keys and bytes (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private long seed;

  @Option(names = "--json", description = "Prints all figures as JSON.")
  private boolean json;

  @Mixin
  private RecordOptions record = new RecordOptions();

  public PressureCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    if (directory != null) {
      Folders.make(console::say, "--dir", directory);
    }
    try (TemporaryFolder own = TemporaryFolder.in(directory, "penstock-pressure-")) {
      return run(own.path());
    }
  }

  private int run(Path folder) throws IOException {
    PressureOptions options =
        new PressureOptions(new PressureOptions.Disk(folder, engine,
            writeThrough ? StackOptions.Mode.WRITE_THROUGH : StackOptions.Mode.EXCLUSIVE, durability,
            cache.equals("unbounded") ? EngineOptions.UNLIMITED : Sizes.parseBytes(cache)),
            put, memory, Math.clamp(blockBytes, 0, Integer.MAX_VALUE), layers, reads, seed);
    console.say("pressure: putting %s into %s of memory over a disk%s".formatted(Sizes.human(put), Sizes.human(memory),
        noBaseline ? "" : "; before that, the same bytes into bare files, and into memory alone"));
    PressureReport report = run(options);
    if (json) {
      console.json(report);
    } else {
      console.out().print(PressureTable.of(report));
    }
    return report.isGood() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private PressureReport run(PressureOptions options) throws IOException {
    try (TierRecording recording = record.begin("");
        PressureRun pressure = new PressureRun(options, recording)) {
      Baseline baseline = noBaseline ? new Baseline(0, 0) : pressure.baseline();
      // Starts here, because its rate counts blocks
      try (Progress progress = Progress.of(console, "pressure", "blocks")) {
        return pressure.run(baseline, put -> progress.at(put, options.blocks()));
      }
    }
  }
}
