package io.penstock.node.admin;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The memory of this process that is in RAM, and a gauge of it by the name that Prometheus' own clients give it. Linux
/// tells it; elsewhere there is no such gauge.
public final class ResidentMemory {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String LINE = "VmRSS:";
  private static final int KIB = 1024;

  private ResidentMemory() {}

  public static void bindTo(MeterRegistry registry) {
    if (Files.isReadable(STATUS)) {
      Gauge.builder("process.resident.memory", ResidentMemory::bytes).baseUnit("bytes")
          .description("Memory of the process that is in RAM").register(registry);
    }
  }

  /// NaN if the system does not report it.
  public static double bytes() {
    try {
      return Files.readAllLines(STATUS).stream().filter(line -> line.startsWith(LINE))
          .mapToDouble(line -> Double.parseDouble(line.substring(LINE.length(), line.lastIndexOf(' ')).strip()) * KIB)
          .findFirst().orElse(Double.NaN);
    } catch (IOException e) {
      return Double.NaN;
    }
  }
}
