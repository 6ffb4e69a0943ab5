package io.penstock.examples.process;

import io.penstock.node.cli.OwnCommand;
import java.io.IOException;
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
    return new ProcessBuilder(OwnCommand.of(flags, MAIN, args)).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }
}
