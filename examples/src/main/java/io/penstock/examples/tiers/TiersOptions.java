package io.penstock.examples.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.EngineKind;
import io.penstock.storage.JournalOptions;
import java.nio.file.Path;

/// What a [TiersRun] does.
///
/// @param directory of the journal
/// @param engine what keeps its records
/// @param mode whether a block is on one level, or on the disk, too
/// @param seed what the keys, and so the bytes, are made from
record TiersOptions(Path directory, EngineKind engine, StackOptions.Mode mode, long seed) {
  private static final long SEGMENT_BYTES = 32 << 20;

  TiersOptions {
    requireNonNull(directory, "directory");
    requireNonNull(engine, "engine");
    requireNonNull(mode, "mode");
  }

  /// Segments are small, as the whole journal is.
  JournalOptions journal() {
    return JournalOptions.defaults(directory).withEngine(engine).withSegmentBytes(SEGMENT_BYTES);
  }
}
