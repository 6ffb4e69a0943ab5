package io.penstock.node.cli;

import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A file that a command is told to read.
public final class InputFile {
  private InputFile() {}

  /// The path that `name` says. A folder is refused here, for opening one works and only reading it fails, without a name.
  ///
  /// @throws FileSystemException if it is a folder
  public static Path of(String name) throws FileSystemException {
    Path file = Path.of(name);
    if (Files.isDirectory(file)) {
      throw new FileSystemException(name, null, "is a folder");
    }
    return file;
  }
}
