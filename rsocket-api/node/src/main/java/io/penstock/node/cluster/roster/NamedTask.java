package io.penstock.node.cluster.roster;

import static java.util.Objects.requireNonNull;

import io.penstock.node.cli.Console;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.transport.Endpoint;
import java.util.List;
import picocli.CommandLine.Parameters;

/// A command that starts a task at one member, which it names.
abstract class NamedTask extends TaskCommand {
  private final TaskOrder.Kind kind;

  @Parameters(index = "0", paramLabel = "NODE",
      description = "Name of the member, as 'penstock cluster stat' shows it.")
  private String name = "";

  @Parameters(index = "1", paramLabel = "ADDRESS", arity = "0..1", defaultValue = HERE,
      converter = NodeAddress.Converter.class, description = ANY)
  private Endpoint node = Endpoint.parse(HERE);

  NamedTask(Console console, TaskOrder.Kind kind) {
    super(console, Dialer.ofWire());
    this.kind = requireNonNull(kind, "kind");
  }

  @Override
  final Endpoint node() {
    return node;
  }

  @Override
  final TaskOrder order(long bytesPerSecond) {
    return new TaskOrder(kind, "", "", bytesPerSecond);
  }

  @Override
  final List<Member> concerned(Members members) {
    return List.of(members.named(name));
  }
}
