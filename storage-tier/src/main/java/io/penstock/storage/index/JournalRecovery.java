package io.penstock.storage.index;

/// Result of opening a journal.
///
/// @param segments number of segments
/// @param blocks found
/// @param freed dead records: removed, or followed by a newer one of an equal key
/// @param dropped records that are unfinished or damaged
/// @param damaged records of these that were finished, and are damaged since; their bytes go to the quarantine
/// @param tornSegments segments whose last bytes belong to no record
public record JournalRecovery(int segments, int blocks, int freed, int dropped, int damaged, int tornSegments) {}
