package io.penstock.examples.stream;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Memory of this process as the system counts it; Linux tells in `/proc`, other systems are not asked.
final class ResidentMemory {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String FIELD = "VmRSS:";

  private ResidentMemory() {}

  /// Bytes now, or 0 where they are not told.
  static long bytes() {
    if (!Files.isReadable(STATUS)) {
      return 0;
    }
    try {
      return Files.readAllLines(STATUS).stream().filter(line -> line.startsWith(FIELD))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10).findFirst().orElse(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
