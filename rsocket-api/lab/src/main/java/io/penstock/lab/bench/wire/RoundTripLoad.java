package io.penstock.lab.bench.wire;

import io.penstock.lab.bench.side.Load;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.TemporaryFolder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/// 64 bytes there and back over a Unix domain socket between two processes that sleep while they wait, in C: the bare
/// round trip that a get is compared with. The program is compiled where there is a C compiler.
final class RoundTripLoad implements Load {
  private static final String SOURCE = "round-trip.c";
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final TemporaryFolder folder;
  private final Path program;

  private RoundTripLoad(TemporaryFolder folder, Path program) {
    this.folder = folder;
    this.program = program;
  }

  /// Null, which is said, if there is no compiler.
  static @Nullable RoundTripLoad compiledIfPossible(Console console) throws IOException {
    TemporaryFolder folder = TemporaryFolder.create("penstock-bench-");
    Path program = folder.path().resolve("round-trip");
    Path source = folder.path().resolve(SOURCE);
    try (InputStream text = Objects.requireNonNull(RoundTripLoad.class.getResourceAsStream(SOURCE), SOURCE)) {
      Files.copy(text, source);
      if (ended(new ProcessBuilder("cc", "-O2", "-o", program.toString(), source.toString()).inheritIO().start())) {
        return new RoundTripLoad(folder, program);
      }
      console.say("bench: the bare round trip in C is left out: cc does not compile it");
    } catch (IOException e) {
      console.say("bench: the bare round trip in C is left out: " + e.getMessage());
    }
    folder.close();
    return null;
  }

  private static boolean ended(Process process) {
    try {
      return process.waitFor() == 0;
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  public Done run(long nanos) {
    Histogram latencies = new Histogram(MOST_NANOS, 3);
    try {
      Process process = new ProcessBuilder(List.of(program.toString(), "" + nanos))
          .redirectError(ProcessBuilder.Redirect.INHERIT).start();
      try (BufferedReader lines =
          new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        lines.lines().map(line -> line.split(" "))
            .forEach(words -> latencies.recordValueWithCount(Long.parseLong(words[0]), Long.parseLong(words[1])));
      }
      if (!ended(process)) {
        throw new IllegalStateException("the bare round trip ended with an error");
      }
      return new Done(latencies.getTotalCount(), nanos, latencies);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    folder.close();
  }
}
