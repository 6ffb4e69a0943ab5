package io.penstock.lab.simulate;

import io.penstock.recording.RecordedEvent;
import io.penstock.storage.recording.RecordingFile;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A run that was recorded.
///
/// @param result null if an invariant was broken
/// @param violation null if every invariant held
/// @param events of the node's tiers and the parties' flows; the first broken invariant is an event, too
record RecordedRun(@Nullable SimulationResult result, @Nullable ViolationException violation,
    List<RecordedEvent> events) {
  /// Saves the recording, for `penstock replay`.
  ///
  /// @return its file, `seed-427.pkr` in `folder`
  Path save(Path folder, long seed) {
    Path file = folder.resolve("seed-" + seed + ".pkr");
    RecordingFile.write(file, events.iterator());
    return file;
  }
}
