package io.penstock.device.sidecar;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What a process has mapped, as the system counts it.
final class Mappings {
  private static final Pattern LINE = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) .*/memfd:(\\S+) \\(deleted\\)");

  private Mappings() {}

  /// Mappings of memfds whose name begins so, by name.
  static Map<String, Integer> of(long process, String prefix) {
    Map<String, Integer> found = new TreeMap<>();
    for (String line : text(process).split("\n")) {
      Matcher matcher = LINE.matcher(line);
      if (matcher.matches() && matcher.group(3).startsWith(prefix)) {
        found.merge(matcher.group(3), 1, Integer::sum);
      }
    }
    return found;
  }

  private static String text(long process) {
    try {
      return Files.readString(Path.of("/proc/" + process + "/maps"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Open files of a process.
  static int descriptors(long process) {
    String[] names = Path.of("/proc/" + process + "/fd").toFile().list();
    return names == null ? 0 : (int) Arrays.stream(names).count();
  }
}
