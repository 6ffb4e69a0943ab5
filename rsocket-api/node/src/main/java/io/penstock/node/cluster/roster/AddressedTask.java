package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.wire.transport.Endpoint;
import picocli.CommandLine.Parameters;

/// A command that starts a task at several members, of which one is told.
abstract class AddressedTask extends TaskCommand {
  @Parameters(paramLabel = "ADDRESS", arity = "0..1", defaultValue = HERE, converter = NodeAddress.Converter.class,
      description = ANY)
  private Endpoint node = Endpoint.parse(HERE);

  AddressedTask(Console console) {
    this(console, Dialer.ofWire());
  }

  AddressedTask(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  final Endpoint node() {
    return node;
  }
}
