package io.penstock.storage.rivals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// `fio`, if it is installed: random reads of a file, each block at most once, eight at a time.
final class Fio {
  private static final int DEPTH = 8;

  private Fio() {}

  static boolean isThere() {
    try {
      return new ProcessBuilder("fio", "--version").redirectErrorStream(true).start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /// GB/s of one process that has eight reads on their way, past the system's cache.
  static double direct(Path file, int blockBytes, long bytes, long seed) {
    return run(file, seed, "--ioengine=libaio", "--iodepth=" + DEPTH, "--direct=1", "--bs=" + blockBytes,
        "--io_size=" + bytes);
  }

  /// GB/s of eight threads that read one block each, through the system's cache, which is empty. Each has a part of the
  /// file of its own.
  static double buffered(Path file, int blockBytes, long fileBytes, long bytes, long seed) {
    long part = fileBytes / DEPTH / blockBytes * blockBytes;
    return run(file, seed, "--ioengine=psync", "--thread", "--numjobs=" + DEPTH, "--group_reporting", "--direct=0",
        "--bs=" + blockBytes,
        "--size=" + part, "--offset_increment=" + part, "--io_size=" + bytes / DEPTH);
  }

  private static double run(Path file, long seed, String... options) {
    List<String> command = new java.util.ArrayList<>(
        List.of("fio", "--name=rival", "--filename=" + file, "--readonly", "--rw=randread", "--randseed=" + seed,
            "--invalidate=1", "--output-format=json"));
    command.addAll(List.of(options));
    try {
      Process fio = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      JsonNode report = JsonMapper.shared().readTree(fio.getInputStream());
      if (!fio.waitFor(1, TimeUnit.MINUTES) || fio.exitValue() != 0) {
        throw new IllegalStateException("fio must end well (was " + command + ")");
      }
      return report.at("/jobs/0/read/bw_bytes").asDouble() / 1e9;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
