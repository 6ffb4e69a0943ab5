package io.penstock.storage.engine;

import io.penstock.storage.engine.EngineFailure.EngineUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Checks how many files this process may open. A journal has up to two descriptors a segment. With too few, the
/// process cannot accept sockets either.
public final class OpenFiles {
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Pattern LIMIT = Pattern.compile("Max open files +(\\d+) ");
  private static final int A_SEGMENT = 2;
  /// Descriptors for jars, sockets and pipes.
  private static final int OTHERS = 256;

  private OpenFiles() {}

  /// @param segments most segments of the journal
  /// @throws EngineUnavailableException naming the number that is needed, if the limit is lower
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

  /// Limits of open files; empty where the system does not report them.
  private static String limits() {
    try {
      return Files.isReadable(LIMITS) ? Files.readString(LIMITS) : "";
    } catch (IOException e) {
      return "";
    }
  }
}
