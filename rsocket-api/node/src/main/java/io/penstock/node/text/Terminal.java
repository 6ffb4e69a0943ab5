package io.penstock.node.text;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Finds out where a standard stream of this process goes. Linux reports it for each stream; elsewhere the JDK reports
/// it for standard input and output together.
public final class Terminal {
  /// Columns that output for people keeps to.
  public static final int COLUMNS = 80;

  private Terminal() {}

  /// @param descriptor 1 for standard output, 2 for standard error
  public static boolean isBehind(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
    } catch (IOException | UnsupportedOperationException e) {
      java.io.Console console = System.console();
      return console != null && console.isTerminal();
    }
  }

  /// `text` broken at spaces so that each line fits, if its words do; the lines after the first are indented.
  public static String wrapped(String text, int indent) {
    StringBuilder lines = new StringBuilder();
    String rest = text;
    while (rest.length() > COLUMNS) {
      int end = rest.lastIndexOf(' ', COLUMNS);
      if (end <= indent || rest.substring(0, end).isBlank()) {
        break;
      }
      lines.append(rest.substring(0, end).stripTrailing()).append('\n');
      rest = " ".repeat(indent) + rest.substring(end).strip();
    }
    return lines.append(rest).toString();
  }
}
