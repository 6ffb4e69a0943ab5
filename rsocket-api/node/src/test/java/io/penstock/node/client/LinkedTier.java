package io.penstock.node.client;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.Failures;
import io.penstock.node.link.NodeLink;
import io.penstock.tier.BlockTier;
import io.penstock.wire.client.ServerStat;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import reactor.core.publisher.Mono;

/// A node that is a tier in this process: what commands meet when it does not behave.
record LinkedTier(BlockTier tier) implements NodeLink {
  /// One command, and what it left behind.
  record Run(int code, String out, String err) {}

  Run run(String command, String... flags) {
    return run(InputStream.nullInputStream(), command, flags);
  }

  Run run(InputStream in, String command, String... flags) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console = new Console(in, new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8), false, Map.of());
    int code = ClientCommands.lines(console, (address, config, patience) -> this).stream()
        .filter(line -> line.getCommandName().equals(command)).findFirst().orElseThrow()
        .setErr(new PrintWriter(console.err(), true, StandardCharsets.UTF_8))
        .setExecutionExceptionHandler(new Failures(console)).execute(flags);
    return new Run(code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  @Override
  public Mono<ServerStat> stat() {
    return Mono.never();
  }

  @Override
  public void close() {}
}
