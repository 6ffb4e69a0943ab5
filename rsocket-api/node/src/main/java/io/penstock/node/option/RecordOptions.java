package io.penstock.node.option;

import io.penstock.node.tiers.TierRecording;
import io.penstock.storage.recording.RecordingWriter;
import io.penstock.storage.recording.RecordingWriter.WhenFull;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import picocli.CommandLine.Option;

/// Options of a command that records what it does: its flows and its connections.
public final class RecordOptions {
  @Option(names = "--record", paramLabel = "DIR",
      description = "Record the flows and connections of this command in a folder, empty or new. It holds no bytes of"
          + " blocks, no salt and no password.")
  private @Nullable Path folder;

  @Option(names = "--record-size", paramLabel = "SIZE", converter = SizeOption.class,
      description = "With --record: its maximum size; its oldest files go (default: 8GiB).")
  private @Nullable Long size;

  @Option(names = "--record-age", paramLabel = "DURATION", converter = TimeOption.class,
      description = "With --record: maximum age of its files; older ones go (default: any).")
  private @Nullable Duration age;

  @Option(names = "--record-full", paramLabel = "drop|wait",
      description = "With --record: what happens when its disk does not keep up. Events are left out and counted, or"
          + " the command waits (default: drop).")
  private @Nullable WhenFull full;

  /// Begins the recording that the options ask for.
  ///
  /// @param configuration of the command, as JSON without secrets; empty for none
  /// @return null without `--record`
  public @Nullable TierRecording begin(String configuration) {
    if (folder == null) {
      requireLeftOut("--record-size", size);
      requireLeftOut("--record-age", age);
      requireLeftOut("--record-full", full);
      return null;
    }
    RecordingWriter.Options options = RecordingWriter.Options.defaults();
    if (size != null) {
      options = options.withMostBytes(size);
    }
    if (age != null) {
      options = options.withMostAge(age);
    }
    return TierRecording.begin(folder, full == null ? options : options.withWhenFull(full), configuration);
  }

  /// The folder to record in; null without `--record`. A command of several processes gives each a folder in it.
  public @Nullable Path folder() {
    return folder;
  }

  /// Records the subscriptions to a flow, or passes the flow on as it is.
  ///
  /// @param recording null for none
  /// @param name of the flow in the recording
  public static <T> Function<Publisher<T>, Publisher<T>> flow(@Nullable TierRecording recording, String name) {
    return recording == null ? flow -> flow : recording.recorder().named(name);
  }

  private static void requireLeftOut(String option, @Nullable Object value) {
    if (value != null) {
      throw new IllegalArgumentException(option + " must come with --record (was alone)");
    }
  }
}
