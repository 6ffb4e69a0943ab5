package io.penstock.node.ssd;

import io.penstock.node.cli.Numbers;
import io.penstock.node.cli.Plural;
import io.penstock.node.cli.TextTable;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.RepairAction;
import io.penstock.storage.check.RepairReport;
import org.jspecify.annotations.Nullable;

/// A [RepairReport] for a reader.
final class RepairTable {
  private RepairTable() {}

  static String of(RepairReport report) {
    if (report.actions().isEmpty()) {
      return "nothing to repair: %s of engine %s, all good%n".formatted(Plural.of(report.live(), "block"),
          report.engine());
    }
    TextTable table = new TextTable("SEGMENT", "OFFSET", "LENGTH", "WHAT", "DONE", "KEY", "KEPT IN");
    for (RepairAction action : report.actions()) {
      Damage damage = action.damage();
      table.row(String.valueOf(damage.segment()), String.valueOf(damage.offset()), damage.length(),
          CheckTable.word(damage.kind()), CheckTable.word(action.done()),
          CheckTable.key(damage), orDash(action.file()));
    }
    long givenUp = givenUp(report);
    return table + "\n%s repaired; %s good before, and as they were%s%n".formatted(
        Plural.of(report.actions().size() - givenUp, "range"), Plural.of(report.live(), "block"),
        givenUp == 0 ? "" : "; %s could not be mended".formatted(Numbers.of(givenUp)));
  }

  private static String orDash(@Nullable String file) {
    return file == null ? "-" : file;
  }

  /// Damage that is still there.
  static long givenUp(RepairReport report) {
    return report.actions().stream().filter(action -> action.done() == RepairAction.Done.GIVEN_UP).count();
  }
}
