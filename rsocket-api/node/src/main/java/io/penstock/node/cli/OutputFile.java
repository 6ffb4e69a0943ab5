package io.penstock.node.cli;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;

import io.penstock.node.text.Reason;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// A file that a command writes at its end. Whether it can be written is known before the work begins, and a reader
/// sees the whole new content or the whole old one.
public final class OutputFile {
  private final Path file;
  private final Path draft;

  private OutputFile(Path file) {
    this.file = file;
    this.draft = file.resolveSibling("." + file.getFileName() + "." + ProcessHandle.current().pid() + ".draft");
  }

  /// A file to write later.
  ///
  /// @param option that named it, for the complaint
  /// @throws IOException if it cannot be written; nothing is made for it, nor is its folder
  public static OutputFile of(String option, Path file) throws IOException {
    try {
      OutputFile output = new OutputFile(Files.exists(file) ? file.toRealPath() : file.toAbsolutePath());
      output.tryOut();
      return output;
    } catch (IOException e) {
      throw refused(option, e);
    }
  }

  /// Checks a file that is written in place, bit by bit: then a device or a pipe is accepted, too, and the folder of an
  /// existing file need not be writable.
  public static void require(String option, Path file) throws IOException {
    if (!Files.exists(file)) {
      of(option, file);
    } else if (Files.isDirectory(file) || !Files.isWritable(file)) {
      throw refused(option,
          Files.isDirectory(file)
              ? new FileSystemException(file.toString(), null, "is a folder")
              : new AccessDeniedException(file.toString()));
    }
  }

  private static IOException refused(String option, IOException reason) {
    return new IOException(Reason.after(option + " must be a file that can be written", reason), reason);
  }

  /// Writes the whole file and replaces its earlier content.
  public void write(byte[] content) throws IOException {
    try {
      Files.deleteIfExists(draft); // of a process that was killed and had the number of this one
      Files.write(draft, content, CREATE_NEW);
      Files.move(draft, file, ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  @Override
  public String toString() {
    return file.toString();
  }

  private void tryOut() throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new FileSystemException(file.toString(), null,
          Files.isDirectory(file) ? "is a folder" : "is no regular file");
    }
    if (Files.exists(file) && !Files.isWritable(file)) {
      throw new AccessDeniedException(file.toString());
    }
    try {
      Files.deleteIfExists(draft);
      Files.write(draft, new byte[0], CREATE_NEW);
      Files.delete(draft);
    } catch (NoSuchFileException e) {
      throw new NoSuchFileException(file.toString());
    } catch (AccessDeniedException e) {
      throw new AccessDeniedException(file.toString());
    } catch (FileSystemException e) {
      throw new FileSystemException(file.toString(), null, e.getReason());
    }
  }
}
