package io.penstock.node.cli;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The command line that runs another Penstock as this one runs: same JVM, same flags, same classes.
public final class OwnCommand {
  private static final String MAIN = "io.penstock.node.PenstockMain";
  /// Flags that two processes cannot share.
  private static final List<String> OWN_FLAGS =
      List.of("-agentlib:", "-Xrunjdwp", "-javaagent:", "-XX:StartFlightRecording", "-XX:FlightRecorderOptions");

  private OwnCommand() {}

  /// Command line of `penstock` with `arguments`.
  public static List<String> of(List<String> arguments) {
    return of(List.of(), MAIN, arguments);
  }

  /// Command line of another program of ours.
  ///
  /// @param flags for the JVM, behind the flags of this one
  public static List<String> of(List<String> flags, String main, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (OWN_FLAGS.stream().noneMatch(flag::startsWith)) {
        command.add(flag);
      }
    }
    command.addAll(flags);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(main);
    command.addAll(arguments);
    return command;
  }
}
