package io.penstock.lab.bench.wire;

import io.penstock.node.cli.Console;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Finds programs of this machine.
final class Installed {
  private Installed() {}

  /// The program of a peer; null, and a line that says so, where it is not installed.
  static @Nullable Path program(String name, String peer, Console console) {
    String path = console.environment().getOrDefault("PATH", "");
    Path found = Arrays.stream((path + File.pathSeparator + "/usr/bin").split(File.pathSeparator))
        .map(folder -> Path.of(folder, name)).filter(Files::isExecutable).findFirst().orElse(null);
    if (found == null) {
      console.say("--peer " + peer + ": skipped, for no " + name + " is on the PATH");
    }
    return found;
  }
}
