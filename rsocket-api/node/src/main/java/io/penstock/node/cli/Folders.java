package io.penstock.node.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/// What is done to whole folders.
public final class Folders {
  private Folders() {}

  /// Makes a folder that is gone when the process ends, also by a signal.
  public static Path temporary(String prefix) throws IOException {
    Path made = Files.createTempDirectory(prefix);
    Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name("penstock-folder-cleaner").unstarted(() -> {
      try {
        delete(made);
      } catch (IOException e) { // somebody writes to it still: what is left is named for whoever looks for it
        System.err.println(made + " could not be deleted: " + e);
      }
    }));
    return made;
  }

  /// Deletes `folder` and all that is in it, if it is there.
  public static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
