package io.penstock.storage;

/// What opening a journal found.
///
/// @param segments segments there were
/// @param blocks blocks that are found again
/// @param freed records that count no more: removed, or followed by a newer one of the same key
/// @param dropped records that a crash left unfinished, or that were damaged
/// @param damaged of these, what was finished and is damaged since; its bytes go to the quarantine
/// @param tornSegments segments whose last bytes are no record: where a crash, or damage, ended them
public record JournalRecovery(int segments, int blocks, int freed, int dropped, int damaged, int tornSegments) {}
