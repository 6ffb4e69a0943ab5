package io.penstock.node.replay;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Where the processes of a replay log to. A folder that nobody named is temporary: it goes at the end, and when a signal ends the run; it
/// stays when something went wrong, which is what logs are for.
final class LogFolder {
  private final @Nullable Path named;
  private final Consumer<String> say;
  private @Nullable Path temporary;
  private @Nullable Thread cleaner;

  /// @param named null for a temporary one
  /// @param say hears of what could not be deleted
  LogFolder(@Nullable Path named, Consumer<String> say) {
    this.named = named;
    this.say = say;
  }

  /// The folder, made if it is not there.
  synchronized Path open() {
    try {
      if (named != null) {
        return Files.createDirectories(named);
      }
      Path made = Files.createTempDirectory("penstock-replay-");
      temporary = made;
      cleaner = Thread.ofPlatform().name("penstock-log-cleaner").unstarted(this::interrupted);
      Runtime.getRuntime().addShutdownHook(cleaner);
      return made;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void interrupted() {
    Children.end();
    delete();
  }

  /// From now on the end of this process leaves the logs where they are.
  synchronized void keep() {
    Thread hook = cleaner;
    cleaner = null;
    if (hook != null) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) { // the process is ending already, because of a signal
        return;
      }
    }
  }

  /// Deletes a temporary folder. That it stays is worth a word, and no failure of the replay.
  synchronized void delete() {
    Path folder = temporary;
    if (folder == null || !Files.exists(folder)) {
      return;
    }
    try (Stream<Path> logs = Files.list(folder)) {
      for (Path log : logs.toList()) {
        Files.delete(log);
      }
      Files.delete(folder);
    } catch (IOException e) {
      say.accept("logs stay in " + folder + ", for they cannot be deleted: " + e);
    }
  }
}
