package io.penstock.examples.process;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Runs an example in a second JVM like this one: same Java, same flags, same class path.
public final class OtherJvm {
  /// By name: the room of all stories knows this one.
  private static final String MAIN = "io.penstock.examples.Examples";

  private OtherJvm() {}

  /// Starts `penstock example ARGS`; its standard error is this process's, its standard output is the caller's to read.
  ///
  /// @param flags more options for the JVM
  /// @param args the name of an example, then its arguments
  public static Process start(List<String> flags, List<String> args) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(OtherJvm::isForAnyJvm)
        .forEach(command::add);
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
    command.addAll(args);
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /// A debugger or an agent belongs to one process.
  private static boolean isForAnyJvm(String flag) {
    return !flag.startsWith("-agentlib") && !flag.startsWith("-javaagent") && !flag.startsWith("-Xrunjdwp");
  }
}
