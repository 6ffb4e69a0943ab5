package io.penstock.node.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/// What is done to whole folders.
public final class Folders {
  private Folders() {}

  /// Deletes `folder` and all that is in it, if it is there.
  public static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /// @param option that named `folder`, for the complaint
  /// @throws IllegalArgumentException if it is there and not empty
  public static void requireEmpty(String option, Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.list(folder)) {
        if (files.findAny().isPresent()) {
          throw new IllegalArgumentException(option + " must be a folder that is empty or not there (was " + folder + ")");
        }
      }
    }
  }
}
