package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.text.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;

/// Asks a command, as `git bisect run` does: it gets the path of a file with the state as JSON behind its own
/// arguments. It ends with 0 if the invariant holds, with 1 to 124 if it is broken, and with another code if it cannot
/// tell.
final class CommandInvariant implements Predicate<PlayedState> {
  private static final int MOST_BROKEN = 124;

  private final String command;
  private final Console console;

  CommandInvariant(String command, Console console) {
    this.command = command;
    this.console = console;
  }

  @Override
  public boolean test(PlayedState state) {
    try {
      Path file = Files.createTempFile("penstock-state-", ".json");
      try {
        Files.writeString(file, Json.of(state));
        return run(file);
      } finally {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("command of --with cannot be run", e);
    }
  }

  private boolean run(Path file) throws IOException {
    Process process = new ProcessBuilder("sh", "-c", command + " \"$1\"", "sh", file.toString())
        .redirectErrorStream(true).start();
    try {
      process.getOutputStream().close();
      new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines().forEach(console::say);
      int code = process.waitFor();
      if (code > MOST_BROKEN) {
        throw new DataException(
            "command of --with must end with 0 where the invariant holds, and with 1 to %d where it is broken (ended"
                .formatted(MOST_BROKEN) + " with " + code + ")");
      }
      return code == 0;
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
