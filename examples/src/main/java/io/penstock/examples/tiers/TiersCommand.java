package io.penstock.examples.tiers;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.tiers.TierRecording;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.EngineKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// `penstock example tiers`.
@Command(name = "tiers", mixinStandardHelpOptions = true,
    description = "Puts more blocks than device and host memory hold into a stack of three levels, and watches them"
        + " being demoted to the disk and promoted again. Compares every byte, and opens the same folder once more.",
    footer = {"", "Example:", "  penstock example tiers --write-through --engine plain"})
public final class TiersCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--dir", paramLabel = "DIR",
      description = "Folder of the disk's journal, kept afterwards (default: a temporary one). " + Folders.MADE)
  private @Nullable Path directory;

  @Option(names = "--engine", paramLabel = "ENGINE", defaultValue = "chronicle",
      description = "Engine of the journal: chronicle, plain, or memory, which keeps nothing (default: "
          + "${DEFAULT-VALUE}).")
  private EngineKind engine = EngineKind.CHRONICLE;

  @Option(names = "--write-through",
      description = "Writes every block to the disk before it is visible, so that its receipt promises it.")
  private boolean writeThrough;

  @Option(names = "--seed", paramLabel = "N",
      description = "Seed of keys and bytes (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private long seed;

  @Option(names = "--json", description = "Prints all figures as JSON.")
  private boolean json;

  @Mixin
  private RecordOptions record = new RecordOptions();

  public TiersCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    if (directory != null) {
      return run(Folders.make(console::say, "--dir", directory));
    }
    try (TemporaryFolder temporary = TemporaryFolder.create("penstock-tiers-")) {
      return run(temporary.path());
    }
  }

  private int run(Path journal) {
    StackOptions.Mode mode = writeThrough ? StackOptions.Mode.WRITE_THROUGH : StackOptions.Mode.EXCLUSIVE;
    TiersOptions options = new TiersOptions(journal, engine, mode, seed);
    Scheduler timers = Schedulers.newSingle("tiers-timers");
    try {
      TiersReport report = run(options, timers);
      if (json) {
        console.json(report);
      } else {
        TiersTable.of(report).forEach(console::print);
      }
      return report.isGood() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
    } finally {
      timers.dispose();
    }
  }

  private TiersReport run(TiersOptions options, Scheduler timers) {
    try (TierRecording recording = record.begin("");
        Progress progress = Progress.of(console, "tiers", "blocks")) {
      return new TiersRun(options, timers, progress, recording).run();
    }
  }
}
