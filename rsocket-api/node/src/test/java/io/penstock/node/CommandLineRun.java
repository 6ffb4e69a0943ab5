package io.penstock.node;

import io.penstock.node.cli.Console;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine;

/// One command line, run in this process, and what it left behind.
public record CommandLineRun(int exitCode, String out, String err, byte[] outBytes) {
  public static CommandLineRun of(String... arguments) {
    return with(Map.of(), new byte[0], arguments);
  }

  public static CommandLineRun with(Map<String, String> environment, byte[] in, String... arguments) {
    return of(PenstockMain::commandLine, environment, in, arguments);
  }

  /// Of another program than the node's.
  public static CommandLineRun of(Function<Console, CommandLine> program, Map<String, String> environment, byte[] in,
      String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console = new Console(new ByteArrayInputStream(in), new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8), false, environment);
    int code = program.apply(console).execute(arguments);
    return new CommandLineRun(code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8),
        out.toByteArray());
  }
}
