package io.penstock.node.tiers;

import io.penstock.node.config.RecordSettings;
import io.penstock.node.setting.Setting;
import io.penstock.storage.recording.FlightRecorder;
import io.penstock.storage.recording.RecordingWriter;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Begins a recording as [RecordSettings] say, whether a node has them as settings or a command has them as options.
public final class RecordingStart {
  private RecordingStart() {}

  /// Values of settings.
  public interface Values {
    <T> T get(Setting<T> setting);
  }

  /// @param configuration of the process, as JSON without secrets; empty for none
  /// @return null if nothing is to be recorded
  /// @throws IllegalArgumentException if the folder has a recording
  public static @Nullable TierRecording begin(Values values, String configuration) {
    Optional<Path> all = values.get(RecordSettings.FOLDER);
    if (all.isPresent()) {
      RecordingWriter.Options options = RecordingWriter.Options.defaults()
          .withMostBytes(values.get(RecordSettings.BYTES)).withPayloads(values.get(RecordSettings.PAYLOADS))
          .withMostAge(values.get(RecordSettings.AGE).orElse(RecordingWriter.Options.ANY_AGE))
          .withWhenFull(values.get(RecordSettings.FULL));
      return TierRecording.begin(all.get(), options, configuration);
    }
    return values.get(RecordSettings.LAST)
        .map(age -> TierRecording.last(values.get(RecordSettings.LAST_FOLDER),
            FlightRecorder.Options.defaults().withMostAge(age), configuration))
        .orElse(null);
  }
}
