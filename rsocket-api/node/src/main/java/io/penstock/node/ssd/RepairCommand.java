package io.penstock.node.ssd;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.TextTable;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.JournalRepair;
import io.penstock.storage.check.RepairAction;
import io.penstock.storage.check.RepairReport;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `penstock ssd repair`: takes damage out of a journal's way.
@Command(
    name = "repair",
    description = {"Takes damage out of the way of a folder of blocks.", "",
        "Checks every byte first. What can be known is mended, damaged blocks go to DIR/quarantine, torn ends are cut off; good blocks are "
            + "never touched. Ends with 0, or with 1 if blocks are known to be missing.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock ssd repair /var/lib/penstock", ""})
final class RepairCommand implements Callable<Integer> {
  private final Console console;

  @Parameters(paramLabel = "DIR", description = "Folder of the blocks, as ssd.dir names it; no node may use it meanwhile.")
  private Path directory = Path.of(".");

  @Option(names = "--json", description = "Print what was done as one JSON document.")
  private boolean json;

  RepairCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    RepairReport report = FolderFailure.guarded(directory, () -> CheckView.of(console).watch("repair", progress -> JournalRepair.run(directory, progress)));
    if (json) {
      console.json(report);
    } else {
      console.out().print(table(report));
    }
    console.requireHeard();
    boolean whole = report.actions().stream().noneMatch(action -> action.done() == RepairAction.Done.GIVEN_UP);
    return whole ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private static String table(RepairReport report) {
    if (report.actions().isEmpty()) {
      return "nothing to repair: %,d blocks of engine %s are good%n".formatted(report.live(), report.engine());
    }
    TextTable table = new TextTable("SEGMENT", "OFFSET", "LENGTH", "WHAT", "DONE", "KEY", "KEPT IN");
    for (RepairAction action : report.actions()) {
      Damage damage = action.damage();
      String key = damage.key();
      String file = action.file();
      table.row(damage.segment(), damage.offset(), damage.length(), word(damage.kind()), word(action.done()), key == null ? "unknown" : key,
          file == null ? "-" : file);
    }
    return table + "\n%,d ranges repaired; %,d blocks were good and stay%n".formatted(report.actions().size(), report.live());
  }

  private static String word(Enum<?> of) {
    return of.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
