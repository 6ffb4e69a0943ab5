package io.penstock.lab.torture;

import io.penstock.lab.torture.TortureWriter.Orders;
import io.penstock.node.cli.OwnCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/// A [TortureWriter] in a process of its own, which ends with this one.
final class WriterProcess implements AutoCloseable {
  private static final List<String> QUICK =
      List.of("-XX:TieredStopAtLevel=1", "-XX:-UseParallelGC", "-XX:+UseSerialGC", "-Xmx128m",
          "-Xlog:disable", "-Xlog:all=off");
  private static final int SIGKILL = 128 + 9;
  private static final int LINES_KEPT = 4;
  private static final long BEGIN_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Process process;
  private final Path log;

  private WriterProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /// Starts one that rehearses, and waits for [#go].
  ///
  /// @param folder where its log goes
  static WriterProcess start(Orders rehearsal, Path folder) throws IOException {
    Path log = folder.resolve(rehearsal.notes().getFileName() + ".log");
    Process process = new ProcessBuilder(OwnCommand.of(QUICK, TortureWriter.class.getName(), rehearsal.words()))
        .redirectErrorStream(true)
        .redirectOutput(log.toFile()).start();
    return new WriterProcess(process, log);
  }

  /// Makes it work by `orders` until it is killed. A writer that is gone already gets no orders; [#kill] reports why.
  void go(Orders orders) throws IOException, InterruptedException {
    try {
      process.getOutputStream().write(orders.line().getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      if (!process.waitFor(1, TimeUnit.SECONDS)) {
        throw e;
      }
    }
  }

  /// Waits until it has begun to open the journal, or is gone.
  void awaitBegin(PhasePage page) throws InterruptedException {
    long until = System.nanoTime() + BEGIN_NANOS;
    while (page.count(Phase.OPEN) == 0 && process.isAlive() && System.nanoTime() - until < 0) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /// Ends it as `kill -9` does.
  ///
  /// @return its last message, if it ended for another reason
  Optional<String> kill() throws IOException, InterruptedException {
    process.destroyForcibly();
    int code = process.waitFor();
    return code == SIGKILL
        ? Optional.empty()
        : Optional.of("exit code %d, %s".formatted(code,
            Files.readAllLines(log).stream().limit(LINES_KEPT).collect(Collectors.joining(" | "))));
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
