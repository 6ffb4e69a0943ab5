package io.penstock.node.text;

import io.penstock.check.Checks;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import java.io.FileNotFoundException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/// Words a failure for people who do not read Java.
public final class Reason {
  /// The address that the network library appends to an error; the user has named it already.
  private static final Pattern PEER = Pattern.compile(": \\S*/[0-9a-f.:\\[\\]%\\w]+$");
  /// Form of the system call that Netty puts before an error; the error alone is plain.
  private static final Pattern SYSTEM_CALL = Pattern.compile("[a-zA-Z]+\\(\\.\\.\\) failed with error\\(-?\\d+\\): ");

  private static final int LATIN = 0xFF;

  private Reason() {}

  /// A sentence about `failure`, or several lines if its message has them.
  public static String of(Throwable failure) {
    String text = switch (failure) {
      case FileSystemException e -> ofFile(e);
      case UncheckedIOException e when e.getCause() instanceof FileSystemException file -> ofFile(file);
      case UncheckedIOException e when isWithoutWords(e) -> ofCause(e);
      case StorageFailedException e when e.getCause() instanceof FileSystemException file -> ofFile(file);
      case ConnectException e when e.getMessage() == null -> "connection refused";
      case FileNotFoundException e when e.getMessage() == null -> "no such file";
      case UnknownHostException e -> "no address is known for " + e.getMessage();
      case UnresolvedAddressException e -> "no address is known for it";
      case ClosedChannelException e when e.getMessage() == null -> "closed by the other side";
      case OutOfMemoryError e -> "memory is exhausted (" + orName(e) + ")";
      case Error e ->
        "Penstock failed by a mistake of its own (" + e.toString().lines().findFirst().orElse("an error") + ")";
      default -> orName(failure);
    };
    return PEER.matcher(SYSTEM_CALL.matcher(text).replaceAll("")).replaceAll("");
  }

  /// `sentence`, followed by the reason of `failure`: one sentence follows the other, and none stands in brackets.
  public static String after(String sentence, Throwable failure) {
    return sentence + ": " + of(failure);
  }

  /// The words of `refused`, which is about a value, about the value of `name`: *size must be …* becomes *--block-bytes
  /// must be …*.
  public static String about(String name, IllegalArgumentException refused) {
    String message = orName(refused);
    return message.matches("[a-z]+ must .*") ? name + message.substring(message.indexOf(' ')) : name + ": " + message;
  }

  /// `line` in a form that a terminal can show: characters that move its cursor, change its colours, or the direction
  /// of text, are replaced by their numbers. Tabs stay.
  public static String printable(String line) {
    return printable(line, "\t");
  }

  /// Several lines as [#printable(String)]; line feeds stay, too.
  public static String printableLines(String lines) {
    return printable(lines, "\t\n");
  }

  private static String printable(String text, String kept) {
    if (text.codePoints().allMatch(each -> Checks.isPrintable(each) || kept.indexOf(each) >= 0)) {
      return text;
    }
    StringBuilder shown = new StringBuilder();
    text.codePoints().forEach(each -> {
      if (Checks.isPrintable(each) || kept.indexOf(each) >= 0) {
        shown.appendCodePoint(each);
      } else {
        shown.append((each <= LATIN ? "\\x%02x" : "\\u%04x").formatted(each));
      }
    });
    return shown.toString();
  }

  /// The reason of `failure`, for a message that says the rest itself.
  public static String ofCause(Throwable failure) {
    Throwable cause = failure.getCause();
    return of(cause == null ? new IllegalStateException(failure.getMessage()) : cause);
  }

  private static String ofFile(FileSystemException failure) {
    String file = failure.getFile() == null ? "file" : failure.getFile();
    return switch (failure) {
      case NoSuchFileException e when isFolderMissing(file) ->
        file + " must be in a folder that exists (no such folder)";
      case NoSuchFileException e -> file + " must exist (no such file)";
      case AccessDeniedException e -> file + " must be open to this user (permission denied)";
      case FileAlreadyExistsException e -> file + " must be a folder (is a file)";
      case NotDirectoryException e -> file + " must be a folder (is a file)";
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
