package io.penstock.storage;

import org.jspecify.annotations.Nullable;

/// Figures of the scrub since the opening.
///
/// @param passes over all blocks that are complete
/// @param bytes of records read
/// @param corrupt blocks that were damaged, and are lost
/// @param failed reads that failed; the next pass reads those records again, unless they are lost
/// @param failure of the newest record that could not be read and is not lost, in this pass or the one before; null if
///     none failed
public record ScrubStat(long passes, long bytes, long corrupt, long failed, @Nullable RuntimeException failure) {
  /// Figures before the first read.
  static final ScrubStat NONE = new ScrubStat(0, 0, 0, 0, null);
}
