package io.penstock.node.cli;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// A file that a command reads.
public final class InputFile {
  private InputFile() {}

  /// The path that `name` says, which can be read: known before the work begins. Opening a folder works, and only
  /// reading it fails, without a name.
  ///
  /// @throws FileSystemException if it is not there, is a folder, or is closed to this user
  public static Path of(String name) throws FileSystemException {
    Path file = Path.of(name);
    if (Files.isDirectory(file)) {
      throw new FileSystemException(name, null, "is a folder");
    }
    if (!Files.exists(file)) {
      throw new NoSuchFileException(name);
    }
    if (!Files.isReadable(file)) {
      throw new AccessDeniedException(name);
    }
    return file;
  }

  /// Content of the file `name`.
  ///
  /// @throws DataException if it is no text
  /// @throws FileSystemException as of [#of]
  public static String text(String name) throws IOException {
    try {
      return Files.readString(of(name));
    } catch (CharacterCodingException e) {
      throw new DataException(name + " must be text in UTF-8 (was not)");
    }
  }

  /// The first line of the file `name`, such as a secret.
  ///
  /// @throws DataException if it is no text or has no line
  /// @throws FileSystemException as of [#of]
  public static String firstLine(String name) throws IOException {
    return text(name).lines().findFirst().orElseThrow(() -> new DataException(name + " must have a line (has none)"));
  }
}
