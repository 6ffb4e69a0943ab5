package io.penstock.node.ssd;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.node.text.Reason;
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
  /// @param clean whether nothing is wrong in any, and each could be read
  /// @param folders those that could be read
  private record All<R>(boolean clean, List<R> folders) {}

  @Override
  public final Integer call() throws IOException {
    Folders.require("DIR", directory);
    List<Path> folders = FolderFailure.guarded(directory, () -> JournalCheck.journals(directory));
    boolean isOne = folders.size() == 1;
    List<R> reports = new ArrayList<>();
    IOException failed = null;
    for (Path folder : folders) {
      try {
        R report = FolderFailure.guarded(folder, () -> watched(folder));
        if (!json) {
          console.out().print((isOne ? "" : (reports.isEmpty() ? "" : "\n") + folder + ":\n") + table(report));
          console.requireHeard();
        }
        reports.add(report);
      } catch (IOException e) { // the others can be read all the same
        if (failed != null) {
          console.say(Reason.of(failed));
        }
        failed = e;
      }
    }
    boolean isHealthy = failed == null && reports.stream().allMatch(this::isHealthy);
    if (json && !reports.isEmpty()) {
      console.json(isOne ? reports.getFirst() : new All<>(isHealthy, reports));
    }
    if (failed != null) {
      throw failed;
    }
    return isHealthy ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private R watched(Path folder) {
    try (Progress progress = Progress.of(console, name, "MiB", MIB)) {
      return run(folder, progress::at);
    }
  }
}
