package io.penstock.storage;

import io.penstock.KvException;
import org.jspecify.annotations.Nullable;

/// How much of the disk a journal takes, and what compaction costs.
///
/// @param segments number of segments
/// @param heldBytes bytes of all segments
/// @param liveBytes bytes of live records
/// @param userBytes bytes of records put since the opening
/// @param movedBytes bytes of records moved since the opening
/// @param reclaimed segments emptied
/// @param corrupt blocks that compaction found damaged
/// @param failure of the newest move or delete, or why a segment cannot be emptied; null if nothing failed
public record DiskUse(int segments, long heldBytes, long liveBytes, long userBytes, long movedBytes,
    long reclaimed, long corrupt, @Nullable KvException failure) {}
