package io.penstock.node.ssd;

import io.penstock.node.cli.Console;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.JournalRepair;
import io.penstock.storage.check.RepairReport;
import java.nio.file.Path;
import picocli.CommandLine.Command;

/// `penstock ssd repair`: takes damage out of a journal's way.
@Command(
    name = "repair",
    description = {"Takes damage out of the way of a folder of blocks.", "",
      "Checks every byte first. What can be known is mended, damaged blocks go to DIR/quarantine, torn ends are cut off; good blocks are "
          + "never touched, nor is a segment that cannot be read to its end. Ends with 0, or with 1 if something "
          + "cannot be mended: a block that was noted and is gone, a segment that cannot be read.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock ssd repair /var/lib/penstock", ""})
final class RepairCommand extends FolderCommand<RepairReport> {
  RepairCommand(Console console) {
    super(console, "repair");
  }

  @Override
  RepairReport run(Path folder, CheckProgress progress) {
    return JournalRepair.run(folder, progress);
  }

  @Override
  String table(RepairReport report) {
    return RepairTable.of(report);
  }

  @Override
  boolean isWell(RepairReport report) {
    return RepairTable.givenUp(report) == 0;
  }
}
