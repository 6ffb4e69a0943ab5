package io.penstock.node.ssd;

import io.penstock.node.cli.Console;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.JournalCheck;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock ssd verify`: reads every byte of a journal and compares.
@Command(
    name = "verify",
    description = {"Reads every byte of a folder of blocks and compares it with its checksums.", "",
      "Changes nothing. Ends with 1 if any byte differs from what was written, or cannot be read. An "
          + "incomplete record at the end, which a crash leaves, counts too. Each space of a node with several has a "
          + "folder in ssd.dir: all of them are read.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock ssd verify /var/lib/penstock --json", ""})
final class VerifyCommand extends FolderCommand<CheckReport> {
  @Option(names = "--all",
      description = "Show a row for each segment, also for intact ones; --json always has them.")
  private boolean all;

  VerifyCommand(Console console) {
    super(console, "verify");
  }

  @Override
  CheckReport run(Path folder, CheckProgress progress) {
    return JournalCheck.run(folder, progress);
  }

  @Override
  String table(CheckReport report) {
    return CheckTable.of(report, all);
  }

  @Override
  boolean isHealthy(CheckReport report) {
    return report.clean();
  }
}
