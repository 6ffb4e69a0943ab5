package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.link.ClusterLink;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.wire.transport.Endpoint;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// Shows the tasks of all members.
@Command(
    name = "tasks",
    description = {"Shows the tasks of all members that run, and the last that have ended.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster tasks 10.0.0.5:7733 --json", ""})
final class TasksCommand extends MemberCommand {
  @Parameters(paramLabel = "ADDRESS", arity = "0..1", defaultValue = HERE, converter = NodeAddress.Converter.class,
      description = ANY)
  private Endpoint node = Endpoint.parse(HERE);

  TasksCommand(Console console) {
    super(console, Dialer.ofWire());
  }

  @Override
  Endpoint node() {
    return node;
  }

  @Override
  int run(Members members) {
    new Tasks(members.view().members().stream()
        .flatMap(member -> members.at(member, ClusterLink::tasks).stream()).toList()).print(console, isJson());
    return ExitCode.OK;
  }
}
