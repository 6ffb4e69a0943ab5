package io.penstock.node.ssd;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.storage.check.CheckProgress;
import java.io.IOException;
import java.nio.file.Path;
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
      description = "Folder of the blocks, as ssd.dir names it; no node may use it meanwhile.")
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

  @Override
  public final Integer call() throws IOException {
    Folders.require("DIR", directory);
    R report = FolderFailure.guarded(directory, this::watched);
    if (json) {
      console.json(report);
    } else {
      console.out().print(table(report));
    }
    console.requireHeard();
    return isHealthy(report) ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private R watched() {
    try (Progress progress = Progress.of(console, name, "MiB", MIB)) {
      return run(directory, progress::at);
    }
  }
}
