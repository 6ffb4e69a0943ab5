package io.penstock.node.cli;

import io.penstock.node.text.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// Operations on whole folders.
public final class Folders {
  /// Sentence in the help of an option that names such a folder.
  public static final String MADE = "Made if it is not there.";

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

  /// Makes `folder` and those above it, and reports it, unless it is there: the rule for every folder that a command
  /// writes to. The node of `serve` makes its own while it starts.
  ///
  /// @param say receives a line if the folder was made
  /// @param option that named it, for the complaint
  /// @throws IOException if it is a file, or cannot be made or written to
  public static Path make(Consumer<String> say, String option, Path folder) throws IOException {
    try {
      if (!Files.exists(folder)) {
        Files.createDirectories(folder);
        say.accept(made(folder));
      }
      if (!Files.isDirectory(folder)) {
        throw new NotDirectoryException(folder.toString());
      }
      if (!Files.isWritable(folder)) {
        throw new AccessDeniedException(folder.toString());
      }
      return folder;
    } catch (IOException e) {
      throw new IOException(Reason.after(option + " must be a folder that can be written to", e), e);
    }
  }

  /// Line that reports a folder that was made.
  public static String made(Path folder) {
    return "made the folder " + folder;
  }

  /// The rule for every folder that a command only reads: it is never made.
  ///
  /// @param option that named it, for the complaint
  /// @throws IOException if it is not there, or is a file
  public static void require(String option, Path folder) throws IOException {
    if (!Files.exists(folder)) {
      throw new IOException(option + " must be a folder that is there (was " + folder + ", which is missing)");
    }
    if (!Files.isDirectory(folder)) {
      throw new IOException(option + " must be a folder (was " + folder + ", which is a file)");
    }
  }

  /// @param option that named `folder`, for the complaint
  /// @throws IllegalArgumentException if it is there and not empty
  public static void requireEmpty(String option, Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.list(folder)) {
        if (files.findAny().isPresent()) {
          throw new IllegalArgumentException(
              option + " must be a folder that is empty or not there (was " + folder + ")");
        }
      }
    }
  }
}
