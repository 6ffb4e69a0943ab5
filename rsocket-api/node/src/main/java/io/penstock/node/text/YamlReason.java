package io.penstock.node.text;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;

/// Says why a file is not YAML. The parser's message begins with what it was doing, and the reason follows some lines
/// below; where a tab is the fault, it often names another character.
public final class YamlReason {
  private YamlReason() {}

  /// A clause for a person.
  public static String of(Path file, JacksonException e) {
    String message = e.getOriginalMessage() == null ? "" : e.getOriginalMessage();
    if (message.contains("(TAB)") || isIndentedByTab(file, line(e))) {
      return "a tab stands where YAML takes only spaces";
    }
    String first = message.lines().findFirst().orElse("");
    // For an internal error of Java, its class
    return first.isEmpty() ? "unreadable" : first.replaceFirst("^(?:\\w+\\.)+\\w+: ", "");
  }

  /// Number of the line that the parser was at, from 1.
  public static int line(JacksonException e) {
    return e.getLocation() == null ? 1 : e.getLocation().getLineNr();
  }

  /// Whether the line, or the next, begins with a tab: the parser stops at either.
  private static boolean isIndentedByTab(Path file, int line) {
    try (Stream<String> lines = Files.lines(file)) {
      return lines.skip(Math.max(0, line - 1)).limit(2).anyMatch(YamlReason::beginsWithTab);
    } catch (IOException | UncheckedIOException unreadable) {
      return false;
    }
  }

  private static boolean beginsWithTab(String line) {
    return line.stripLeading().length() < line.length()
        && line.substring(0, line.length() - line.stripLeading().length()).indexOf('\t') >= 0;
  }
}
