package io.penstock.storage.check;

import java.util.List;

/// What a repair did to a journal.
///
/// @param directory of the journal
/// @param engine that wrote it
/// @param live blocks that count and were good before
/// @param actions in the order of the files; empty if nothing was damaged
public record RepairReport(String directory, String engine, long live, List<RepairAction> actions) {
  public RepairReport {
    actions = List.copyOf(actions);
  }
}
