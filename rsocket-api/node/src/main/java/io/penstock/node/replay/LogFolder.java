package io.penstock.node.replay;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.TemporaryFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Folder for the logs of the processes of a replay. Without `--dir` the folder is temporary: it is deleted at the end,
/// and when a signal ends the run; it stays after a failure, for which logs are kept.
final class LogFolder {
  private final @Nullable Path named;
  private final Consumer<String> say;
  @GuardedBy("this") private @Nullable TemporaryFolder temporary;

  /// @param named null for a temporary one
  /// @param say takes a line about a folder that was made or could not be deleted
  LogFolder(@Nullable Path named, Consumer<String> say) {
    this.named = named;
    this.say = say;
  }

  /// The folder, made if it is not there.
  synchronized Path open() {
    try {
      if (named != null) {
        return Folders.make(say, "--dir", named);
      }
      temporary = TemporaryFolder.create("penstock-replay-");
      return temporary.path();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Makes the end of this process leave the logs where they are.
  synchronized void keep() {
    if (temporary != null) {
      temporary.keep();
    }
  }

  /// Deletes a temporary folder. That it stays is worth a word, and no failure of the replay.
  synchronized void delete() {
    if (temporary != null) {
      try {
        temporary.close();
      } catch (UncheckedIOException e) {
        say.accept("logs stay: " + e.getMessage());
      }
    }
  }
}
