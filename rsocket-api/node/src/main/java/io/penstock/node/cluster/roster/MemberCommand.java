package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.node.option.SecurityOptions;
import io.penstock.node.option.TimeOption;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// A command that asks the members of a cluster, of which it is told one.
abstract class MemberCommand implements Callable<Integer> {
  static final String ANY = "A member: HOST:PORT at which its clients connect, unix:PATH or ws://HOST:PORT"
      + " (default: ${DEFAULT-VALUE}).";
  static final String HERE = "127.0.0.1:7733";

  final Console console;
  private final Dialer dialer;

  @Option(names = "--timeout", paramLabel = "DURATION", defaultValue = "10s", converter = TimeOption.class,
      description = "Longest wait for an answer (default: ${DEFAULT-VALUE}).")
  private Duration timeout = Duration.ofSeconds(10);

  @Option(names = "--json", description = "Print the result for machines.")
  private boolean json;

  @Mixin
  private SecurityOptions security = new SecurityOptions();

  MemberCommand(Console console, Dialer dialer) {
    this.console = console;
    this.dialer = dialer;
  }

  @Override
  public final Integer call() throws IOException {
    Endpoint first = NodeAddress.of(node(), null).place();
    security.requireFit(first);
    return run(new Members(dialer, first, security.pass(console.environment()), timeout));
  }

  /// Address of the member that is told.
  abstract Endpoint node();

  /// @return the exit code
  abstract int run(Members members);

  final boolean isJson() {
    return json;
  }
}
