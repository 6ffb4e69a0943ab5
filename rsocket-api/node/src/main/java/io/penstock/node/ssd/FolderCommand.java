package io.penstock.node.ssd;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.JournalCheck;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// A command that examines a folder of blocks, and reports its findings as a table or as JSON.
///
/// @param <R> the findings
abstract class FolderCommand<R> implements Callable<Integer> {
  private static final long MIB = 1 << 20;

  private final Console console;
  private final String name;

  @Parameters(paramLabel = "DIR",
      description = "Folder of the blocks, as ssd.dir names it, with those of its spaces; no node may use it "
          + "meanwhile.")
  private Path directory = Path.of(".");

  @Option(names = "--json", description = "Print the report as one JSON document.")
  private boolean json;

  /// @param name of the work, for its progress
  FolderCommand(Console console, String name) {
    this.console = console;
    this.name = name;
  }

  abstract R run(Path folder, CheckProgress progress);

  abstract String table(R report);

  /// Whether nothing is wrong, now.
  abstract boolean isHealthy(R report);

  /// The findings of several folders.
  ///
  /// @param clean whether nothing is wrong in any
  private record All<R>(boolean clean, List<R> folders) {}

  @Override
  public final Integer call() throws IOException {
    Folders.require("DIR", directory);
    List<Path> folders = FolderFailure.guarded(directory, () -> JournalCheck.journals(directory));
    List<R> reports = new ArrayList<>();
    for (Path folder : folders) {
      reports.add(FolderFailure.guarded(folder, () -> watched(folder)));
    }
    boolean isHealthy = reports.stream().allMatch(this::isHealthy);
    if (json) {
      console.json(reports.size() == 1 ? reports.getFirst() : new All<>(isHealthy, reports));
    } else {
      for (int i = 0; i < reports.size(); i++) {
        console.out().print((reports.size() == 1 ? "" : (i == 0 ? "" : "\n") + folders.get(i) + ":\n")
            + table(reports.get(i)));
      }
    }
    console.requireHeard();
    return isHealthy ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private R watched(Path folder) {
    try (Progress progress = Progress.of(console, name, "MiB", MIB)) {
      return run(folder, progress::at);
    }
  }
}
