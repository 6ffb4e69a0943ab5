package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterTask.State;
import java.util.List;
import java.util.Locale;

/// Tasks as a command shows them.
///
/// @param tasks of members, each member's the oldest first
record Tasks(List<ClusterTask> tasks) {
  /// One task in JSON.
  ///
  /// @param id empty if the member did not start it
  /// @param kind such as `drain`
  /// @param to empty for the best member for each block
  /// @param state `running`, `done`, `failed` or `cancelled`
  /// @param left blocks that it may have to do with still; an estimate
  /// @param problem empty for none
  record Shown(String id, String node, String kind, String pattern, String to, String state, long blocks, long bytes,
      long left, String problem) {
    static Shown of(ClusterTask task) {
      return new Shown(task.id(), task.node(), lower(task.order().kind()), task.order().pattern(), task.order().to(),
          lower(task.state()), task.blocks(), task.bytes(), task.left(), task.problem());
    }
  }

  private static String lower(Enum<?> word) {
    return word.name().toLowerCase(Locale.ROOT);
  }

  List<Shown> shown() {
    return tasks.stream().map(Shown::of).toList();
  }

  boolean areRunning() {
    return tasks.stream().anyMatch(Tasks::isRunning);
  }

  static boolean isRunning(ClusterTask task) {
    return task.state() == State.RUNNING;
  }

  long blocks() {
    return tasks.stream().mapToLong(ClusterTask::blocks).sum();
  }

  long left() {
    return tasks.stream().filter(Tasks::isRunning).mapToLong(ClusterTask::left).sum();
  }

  int exitCode() {
    return tasks.stream().anyMatch(task -> task.state() == State.FAILED || task.state() == State.CANCELLED)
        ? ExitCode.FOUND_FAILURE
        : ExitCode.OK;
  }

  void print(Console console, boolean json) {
    if (json) {
      console.json(shown());
    } else {
      console.out().print(tasks.isEmpty() ? "no task\n" : table().wrapped());
    }
  }

  private TextTable table() {
    TextTable table = new TextTable("KIND", "STATE", "BLOCKS", "BYTES", "LEFT", "TASK");
    for (Shown task : shown()) {
      table.row(task.kind(), task.state(), task.blocks(), Sizes.human(task.bytes()), task.left(),
          (task.id().isEmpty() ? task.node() : task.id()) + (task.pattern().isEmpty() ? "" : ", of " + task.pattern())
              + (task.to().isEmpty() ? "" : ", to " + task.to())
              + (task.problem().isEmpty() ? "" : ": " + task.problem()));
    }
    return table;
  }
}
