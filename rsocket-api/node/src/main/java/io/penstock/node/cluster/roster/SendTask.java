package io.penstock.node.cluster.roster;

import static java.util.Objects.requireNonNull;

import io.penstock.node.cli.Console;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import java.util.List;
import picocli.CommandLine.Option;

/// A command that has members send some of their blocks to others.
abstract class SendTask extends AddressedTask {
  private final TaskOrder.Kind kind;

  @Option(names = {"--pattern", "--regex"}, paramLabel = "REGEX", defaultValue = "",
      description = "Regular expression that is searched for in the hex digits of a block's hash (default: all"
          + " blocks).")
  private String pattern = "";

  @Option(names = "--from", paramLabel = "NODE", defaultValue = "",
      description = "Member whose blocks are meant (default: all members).")
  private String from = "";

  @Option(names = "--to", paramLabel = "NODE", defaultValue = "",
      description = "Member that gets the blocks (default: the best one for each).")
  private String to = "";

  SendTask(Console console, TaskOrder.Kind kind) {
    super(console);
    this.kind = requireNonNull(kind, "kind");
  }

  @Override
  final TaskOrder order(long bytesPerSecond) {
    return new TaskOrder(kind, pattern, to, bytesPerSecond);
  }

  @Override
  final List<Member> concerned(Members members) {
    return members.sources(from, to);
  }
}
