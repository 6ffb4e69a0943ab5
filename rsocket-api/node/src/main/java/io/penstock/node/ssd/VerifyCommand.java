package io.penstock.node.ssd;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.JournalCheck;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `penstock ssd verify`: reads every byte of a journal and compares.
@Command(
    name = "verify",
    description = {"Reads every byte of a folder of blocks and compares it with its checksums.", "",
        "Changes nothing. Ends with 1 if anything is not as it was written; an end that belongs to no record, as a crash leaves one, counts.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock ssd verify /var/lib/penstock --json", ""})
final class VerifyCommand implements Callable<Integer> {
  private final Console console;

  @Parameters(paramLabel = "DIR", description = "Folder of the blocks, as ssd.dir names it; no node may use it meanwhile.")
  private Path directory = Path.of(".");

  @Option(names = "--json", description = "Print the report as one JSON document.")
  private boolean json;

  VerifyCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    CheckReport report = FolderFailure.guarded(directory, () -> CheckView.of(console).watch("verify", progress -> JournalCheck.run(directory, progress)));
    if (json) {
      console.json(report);
    } else {
      console.out().print(CheckTable.of(report));
    }
    console.requireHeard();
    return report.clean() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }
}
