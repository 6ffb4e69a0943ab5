package io.penstock.storage.check;

/// What a check found in one segment.
///
/// @param segment its number
/// @param file its name, below the journal's directory
/// @param bytes of the file
/// @param records whole ones, of blocks and of removals
/// @param live blocks that count
/// @param dead blocks that count no more: removed, or followed by a newer one of the same key
/// @param removals records that remove others
/// @param corrupt damaged ranges
/// @param torn 1 if bytes at the end belong to no record
public record SegmentReport(int segment, String file, long bytes, long records, long live, long dead, long removals,
    long corrupt, long torn) {
  SegmentReport withDead(long counted) {
    return new SegmentReport(segment, file, bytes, records, records - removals - counted, counted, removals, corrupt,
        torn);
  }
}
