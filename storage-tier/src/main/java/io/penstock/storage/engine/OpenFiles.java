package io.penstock.storage.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// How many files this process may have open. A journal has up to two descriptors a segment; with too few, sockets
/// cannot be accepted any more either.
public final class OpenFiles {
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Pattern LIMIT = Pattern.compile("Max open files +(\\d+) ");
  private static final int A_SEGMENT = 2;
  /// Of the process besides: its own jars, sockets, and pipes.
  private static final int OTHERS = 256;

  private OpenFiles() {}

  /// @param segments that a journal may have
  /// @throws EngineUnavailableException naming the number that is needed, if the process may have fewer
  public static void require(String engine, long segments) {
    require(engine, segments, limits());
  }

  static void require(String engine, long segments, String limits) {
    long needed = Math.addExact(OTHERS, Math.multiplyExact(segments, A_SEGMENT));
    Matcher limit = LIMIT.matcher(limits);
    if (limit.find() && Long.parseLong(limit.group(1)) < needed) {
      throw new EngineUnavailableException(engine, "run by a process that may open " + needed
          + " files, for " + segments + " segments (`ulimit -n`)", limit.group(1));
    }
  }

  /// Empty where the system does not tell.
  private static String limits() {
    try {
      return Files.isReadable(LIMITS) ? Files.readString(LIMITS) : "";
    } catch (IOException e) {
      return "";
    }
  }
}
