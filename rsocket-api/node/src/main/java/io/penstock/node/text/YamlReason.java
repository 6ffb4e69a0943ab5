package io.penstock.node.text;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;

/// Why a file is not YAML. The parser's message begins with what it was doing, and where a tab is the fault, it often
/// names another character and an earlier line.
///
/// @param line number of the line at fault, from 1
/// @param words a clause for a person
public record YamlReason(int line, String words) {
  /// Lines that the parser reads ahead of the place that it reports.
  private static final int AHEAD = 2;

  public static YamlReason of(Path file, JacksonException e) {
    int line = e.getLocation() == null ? 1 : e.getLocation().getLineNr();
    String message = e.getOriginalMessage() == null ? "" : e.getOriginalMessage();
    int tab = tab(file, line);
    if (tab >= line || message.contains("(TAB)")) {
      return new YamlReason(Math.max(line, tab), "a tab stands where YAML takes only spaces");
    }
    String first = message.lines().findFirst().orElse("");
    // For an internal error of Java, its class
    return new YamlReason(line, first.isEmpty() ? "unreadable" : first.replaceFirst("^(?:\\w+\\.)+\\w+: ", ""));
  }

  /// The first line from `line` on, within a few, that a tab indents; 0 if none is.
  private static int tab(Path file, int line) {
    try (Stream<String> lines = Files.lines(file)) {
      List<String> near = lines.skip(line - 1L).limit(AHEAD + 1L).toList();
      for (int i = 0; i < near.size(); i++) {
        if (near.get(i).matches("\\s*\\t\\s*\\S.*")) {
          return line + i;
        }
      }
      return 0;
    } catch (IOException | UncheckedIOException unreadable) {
      return 0;
    }
  }
}
