package io.penstock.node.party;

import io.penstock.node.shape.LayoutSettings;
import java.util.ArrayList;
import java.util.List;

/// Command lines of the parties that a replay starts.
final class RoleArguments {
  private static final int WAITERS = 4096;

  private RoleArguments() {}

  /// Arguments of a node on a free port that reports its address in its first line.
  ///
  /// @param record options of its recording; empty for none
  static List<String> node(FlowPlan plan, List<String> more, List<String> record) {
    List<String> arguments =
        new ArrayList<>(List.of(PartyCommand.NAME, "node", "--json", "--listen-host", "127.0.0.1", "--listen-port", "0",
            "--admin-port", "off", "--budget", String.valueOf(plan.nodeBudgetBytes()), "--slice-bytes",
            String.valueOf(plan.sliceBytes()),
            "--window-blocks", String.valueOf(plan.windowBlocks()), "--waiters", String.valueOf(WAITERS)));
    arguments.addAll(LayoutSettings.flags(plan.space()));
    arguments.addAll(more);
    arguments.addAll(record);
    return arguments;
  }

  /// A decode or prefill party of the node on `port`.
  ///
  /// @param record options of its recording; empty for none
  static List<String> party(String role, FlowPlan plan, int port, List<String> record) {
    List<String> arguments = new ArrayList<>(List.of(PartyCommand.NAME, role, "--port", String.valueOf(port),
        "--budget", String.valueOf(plan.budgetBytes()), "--concurrency", String.valueOf(plan.concurrency())));
    arguments.addAll(LayoutSettings.flags(plan.space()));
    arguments.addAll(record);
    return arguments;
  }
}
