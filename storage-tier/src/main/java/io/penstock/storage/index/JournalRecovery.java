package io.penstock.storage.index;

/// What opening a journal found.
///
/// @param segments number of segments
/// @param blocks found
/// @param freed records that count no more: removed, or followed by a newer one of the same key
/// @param dropped records that are unfinished or damaged
/// @param damaged records of these that were finished, and are damaged since; their bytes go to the quarantine
/// @param tornSegments segments whose last bytes belong to no record
public record JournalRecovery(int segments, int blocks, int freed, int dropped, int damaged, int tornSegments) {}
