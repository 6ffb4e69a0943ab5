package io.penstock.storage;

/// What opening a journal found.
///
/// @param segments segments there were
/// @param blocks blocks that are at rest again
/// @param freed records that count no more: removed, or followed by a newer one of the same key
/// @param dropped records that a crash left unfinished, or that were damaged
/// @param damaged of these, what was finished, counts still, and is set aside since it was damaged
/// @param tornSegments segments whose last bytes are no record: where a crash, or damage, ended them
/// @param keptSegments segments in which good records lie that no frame leads to: they stay until a repair brings these
///     back
/// @param missing blocks that a checkpoint names and that are not in its segment, nor written or removed since
public record JournalRecovery(int segments, int blocks, int freed, int dropped, int damaged, int tornSegments,
    int keptSegments,
    int missing) {}
