package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.wire.transport.Endpoint;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// Ends a task of a member.
@Command(
    name = "cancel",
    description = {"Ends a task of a member; what it has done stays.", "", "Ends with 1 if the task does not run.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster cancel 10.0.0.5:7733/3 10.0.0.6:7733", ""})
final class CancelCommand extends MemberCommand {
  @Parameters(index = "0", paramLabel = "ID", description = "Task, as 'penstock cluster tasks' shows it: NODE/NUMBER.")
  private String id = "";

  @Parameters(index = "1", paramLabel = "ADDRESS", arity = "0..1", defaultValue = HERE,
      converter = NodeAddress.Converter.class, description = ANY)
  private Endpoint node = Endpoint.parse(HERE);

  CancelCommand(Console console) {
    super(console, Dialer.ofWire());
  }

  @Override
  Endpoint node() {
    return node;
  }

  @Override
  int run(Members members) {
    int slash = id.lastIndexOf('/');
    if (slash < 1) {
      throw new IllegalArgumentException("ID must be NODE/NUMBER (was " + id + ")");
    }
    boolean ended = members.at(members.named(id.substring(0, slash)), link -> link.cancel(id));
    if (isJson()) {
      console.json(Map.of("id", id, "cancelled", ended));
    } else {
      console.print(ended ? "cancelled " + id : id + " does not run");
    }
    return ended ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }
}
