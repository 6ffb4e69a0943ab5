package io.penstock.storage.disk;

import io.penstock.KvException;
import org.jspecify.annotations.Nullable;

/// Figures of the syncs of a journal since the opening.
///
/// @param unsyncedBytes appended, and not forced to the medium yet
/// @param unsyncedMillis age of the oldest of these, or more; 0 if there is none
/// @param syncs that succeeded
/// @param failedSyncs that failed
/// @param lostBytes of failed syncs: they may not be on the medium, even if a later sync succeeds. Segments that these
///     bytes were to replace stay until the next opening
/// @param failure of the newest failed sync; null if none failed
public record SyncStat(long unsyncedBytes, long unsyncedMillis, long syncs, long failedSyncs, long lostBytes,
    @Nullable KvException failure) {}
