package io.penstock.storage.check;

import java.util.List;

/// What a check found in a journal.
///
/// @param directory of the journal
/// @param engine that wrote it
/// @param clean whether every byte that must be right is
/// @param segments in the order of writing
/// @param damage in the order of the files
public record CheckReport(String directory, String engine, boolean clean, List<SegmentReport> segments,
    List<Damage> damage) {
  public CheckReport {
    segments = List.copyOf(segments);
    damage = List.copyOf(damage);
  }

  /// Blocks that count.
  public long live() {
    return segments.stream().mapToLong(SegmentReport::live).sum();
  }
}
