package io.penstock.node.cli;

import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/// Words what went wrong for somebody who does not read Java.
public final class Reason {
  /// How the network library puts a system call before its error; the error alone is plain.
  private static final Pattern SYSTEM_CALL = Pattern.compile("[a-zA-Z]+\\(\\.\\.\\) failed with error\\(-?\\d+\\): ");

  private Reason() {}

  /// One sentence, or several lines if the failure's message has them.
  public static String of(Throwable failure) {
    String text = switch (failure) {
      case FileSystemException e -> ofFile(e);
      case UncheckedIOException e when e.getCause() instanceof FileSystemException file -> ofFile(file);
      case UncheckedIOException e when isWithoutWords(e) -> ofCause(e);
      case ClosedChannelException e when e.getMessage() == null -> "closed by the other side";
      case OutOfMemoryError e -> "memory must suffice (was exhausted: " + orName(e) + ")";
      case Error e -> "penstock must not fail by itself (was " + e.toString().lines().findFirst().orElse("an error") + ")";
      default -> orName(failure);
    };
    return SYSTEM_CALL.matcher(text).replaceAll("");
  }

  /// What is behind `failure`, for a message that says the rest itself.
  public static String ofCause(Throwable failure) {
    Throwable cause = failure.getCause();
    return of(cause == null ? new IllegalStateException(failure.getMessage()) : cause);
  }

  private static String ofFile(FileSystemException failure) {
    String file = failure.getFile() == null ? "file" : failure.getFile();
    return switch (failure) {
      case NoSuchFileException e when isFolderMissing(file) -> file + " must be in a folder that exists (no such folder)";
      case NoSuchFileException e -> file + " must exist (no such file)";
      case AccessDeniedException e -> file + " must be open to this user (permission denied)";
      default -> file + " must be usable (" + reason(failure) + ")";
    };
  }

  private static boolean isFolderMissing(String file) {
    Path folder = Path.of(file).toAbsolutePath().getParent();
    return folder != null && !Files.isDirectory(folder);
  }

  private static String reason(FileSystemException failure) {
    String reason = failure.getReason();
    return reason == null ? failure.getClass().getSimpleName().replace("Exception", "") : reason;
  }

  private static boolean isWithoutWords(UncheckedIOException failure) {
    return failure.getMessage() == null || failure.getMessage().equals(String.valueOf(failure.getCause()));
  }

  private static String orName(Throwable failure) {
    String message = failure.getMessage();
    return message == null ? failure.getClass().getName() : message;
  }
}
