package io.penstock.storage;

import org.jspecify.annotations.Nullable;

/// What reading in the background came to since the opening.
///
/// @param passes over all blocks that came to their end
/// @param bytes of records read
/// @param corrupt blocks that were found damaged, whose bytes were set aside, and that are gone
/// @param failed records that could not be read when it was their turn, each time: those that are not lost are read
///     again in the next pass
/// @param failure of the newest record, in this pass or the one before, that could not be read and is not lost, or
///     could not be set aside; null if none failed
public record ScrubStat(long passes, long bytes, long corrupt, long failed, @Nullable RuntimeException failure) {
  /// Before the first read.
  static final ScrubStat NONE = new ScrubStat(0, 0, 0, 0, null);
}
