package io.penstock.node.tiers;

import io.penstock.node.text.Json;
import io.penstock.recording.RecordedTier;
import io.penstock.recording.Recorder;
import io.penstock.recording.Turns;
import io.penstock.storage.recording.RecordingWriter;
import io.penstock.system.LiveClock;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// A recording of all tiers of this process, in one order, in a folder. It ends before the tiers are closed.
public final class TierRecording implements AutoCloseable {
  private final RecordingWriter writer;
  private final Turns turns;
  private final Recorder recorder;
  private final AtomicInteger tiers = new AtomicInteger();

  private TierRecording(RecordingWriter writer) {
    this.writer = writer;
    this.turns = new Turns(LiveClock.process()::nanos, writer);
    this.recorder = new Recorder(turns);
  }

  /// Begins a recording.
  ///
  /// @param folder made if it is not there; must be empty
  public static TierRecording begin(Path folder) {
    return begin(folder, RecordingWriter.Options.defaults(), "");
  }

  /// @param configuration of the process, as JSON without secrets; empty for none
  public static TierRecording begin(Path folder, RecordingWriter.Options options, String configuration) {
    return new TierRecording(RecordingWriter.begin(folder, options, configuration));
  }

  /// Records the signals of flows into this recording.
  public Recorder recorder() {
    return recorder;
  }

  /// Opens a tier of `plan` that is recorded.
  RecordedTier open(TierPlan plan, TierInputs inputs, List<BlockStore> stores, RecordedTier.Opening opening) {
    requireRecordable(plan);
    return RecordedTier.open(turns, tiers.getAndIncrement(),
        Json.MAPPER.writeValueAsString(TierWords.of(plan, stores)), inputs, stores, opening);
  }

  static void requireRecordable(TierPlan plan) {
    if (!plan.space().tenantSalt().isEmpty() || plan.room() != null) {
      throw new IllegalArgumentException(
          "record needs a node of one space without a salt (was of several, or with a salt)");
    }
  }

  /// Ends the recording: what happens from now on is not in it.
  @Override
  public void close() {
    writer.close();
  }
}
