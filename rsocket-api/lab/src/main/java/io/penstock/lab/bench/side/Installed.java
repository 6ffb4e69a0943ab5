package io.penstock.lab.bench.side;

import io.penstock.node.cli.Console;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Finds programs of this machine.
public final class Installed {
  private Installed() {}

  /// The program of a peer; null, and a line that says so, where it is not installed.
  ///
  /// @param without what the line says of a run without it, before the reason
  public static @Nullable Path program(String name, String without, Console console) {
    String path = console.environment().getOrDefault("PATH", "");
    Path found = Arrays.stream((path + File.pathSeparator + "/usr/bin").split(File.pathSeparator))
        .map(folder -> Path.of(folder, name)).filter(Files::isExecutable).findFirst().orElse(null);
    if (found == null) {
      console.say(without + ", for no " + name + " is on the PATH");
    }
    return found;
  }
}
