package io.penstock.storage.check;

/// The result of a check of one segment.
///
/// @param segment its number
/// @param file its name, below the journal's directory
/// @param bytes of the file
/// @param records whole records, of blocks and removals
/// @param live blocks
/// @param dead blocks: removed, or replaced by a newer record
/// @param removals records that name removed ones
/// @param corrupt damaged ranges
/// @param torn 1 if bytes at the end belong to no record
public record SegmentReport(int segment, String file, long bytes, long records, long live, long dead, long removals,
    long corrupt, long torn) {
  SegmentReport withDead(long counted) {
    return new SegmentReport(segment, file, bytes, records, records - removals - counted, counted, removals, corrupt,
        torn);
  }
}
