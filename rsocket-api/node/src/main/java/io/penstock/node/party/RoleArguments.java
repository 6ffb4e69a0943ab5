package io.penstock.node.party;

import io.penstock.node.shape.LayoutSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Command lines of the parties that a replay starts.
final class RoleArguments {
  private static final int WAITERS = 4096;

  private RoleArguments() {}

  /// Arguments of a node on a free port that reports its address in its first line.
  ///
  /// @param recordings folder in which it records into a folder of its own; null for none
  static List<String> node(FlowPlan plan, List<String> more, @Nullable Path recordings) {
    List<String> arguments =
        new ArrayList<>(List.of(PartyCommand.NAME, "node", "--json", "--listen-host", "127.0.0.1", "--listen-port", "0",
            "--admin-port", "off", "--budget", String.valueOf(plan.nodeBudgetBytes()), "--slice-bytes",
            String.valueOf(plan.sliceBytes()),
            "--window-blocks", String.valueOf(plan.windowBlocks()), "--waiters", String.valueOf(WAITERS)));
    arguments.addAll(LayoutSettings.flags(plan.space()));
    arguments.addAll(more);
    record("node", recordings, arguments);
    return arguments;
  }

  /// A decode or prefill party of the node on `port`.
  ///
  /// @param recordings folder in which it records into a folder of its own; null for none
  static List<String> party(String role, FlowPlan plan, int port, @Nullable Path recordings) {
    List<String> arguments = new ArrayList<>(List.of(PartyCommand.NAME, role, "--port", String.valueOf(port),
        "--budget", String.valueOf(plan.budgetBytes()), "--concurrency", String.valueOf(plan.concurrency())));
    arguments.addAll(LayoutSettings.flags(plan.space()));
    record(role, recordings, arguments);
    return arguments;
  }

  private static void record(String role, @Nullable Path recordings, List<String> arguments) {
    if (recordings != null) {
      arguments.addAll(List.of("--record", recordings.resolve(role).toString()));
    }
  }
}
