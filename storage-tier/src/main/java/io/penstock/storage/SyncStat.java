package io.penstock.storage;

import io.penstock.KvException;
import org.jspecify.annotations.Nullable;

/// What of a journal is with the operating system alone.
///
/// @param unsyncedBytes appended and not forced to the medium yet
/// @param unsyncedMillis age of the oldest of them, or more; 0 if there is none
/// @param syncs those that succeeded
/// @param failedSyncs those that did not; what was appended since is synced by the next one
/// @param lostBytes covered by a sync that failed: whether they are on the medium is unknown, also after a later sync
///     that succeeds. They are also among the unsynced bytes until then. Segments that these bytes were to replace
///     stay until the next opening
/// @param failure of the newest sync that failed, if any has since the opening
public record SyncStat(long unsyncedBytes, long unsyncedMillis, long syncs, long failedSyncs, long lostBytes,
    @Nullable KvException failure) {}
