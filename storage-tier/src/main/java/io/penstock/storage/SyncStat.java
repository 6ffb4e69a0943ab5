package io.penstock.storage;

import io.penstock.KvException;
import org.jspecify.annotations.Nullable;

/// What of a journal is with the operating system alone.
///
/// @param unsyncedBytes appended and not forced to the medium yet
/// @param unsyncedMillis age of the oldest of them, or more; 0 if there is none
/// @param syncs those that succeeded
/// @param failedSyncs those that did not; each is tried again
/// @param failure of the newest sync, if it failed
public record SyncStat(long unsyncedBytes, long unsyncedMillis, long syncs, long failedSyncs, @Nullable KvException failure) {}
