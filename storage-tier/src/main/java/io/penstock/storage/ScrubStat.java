package io.penstock.storage;

import org.jspecify.annotations.Nullable;

/// What reading in the background came to since the opening.
///
/// @param passes over all blocks that came to their end
/// @param bytes of records read
/// @param corrupt blocks that were found damaged, whose bytes were set aside, and that are gone
/// @param unreadable records that the medium did not give
/// @param failure of the newest record that could not be read or set aside; null if none failed
public record ScrubStat(long passes, long bytes, long corrupt, long unreadable, @Nullable RuntimeException failure) {}
