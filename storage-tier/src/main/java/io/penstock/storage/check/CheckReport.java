package io.penstock.storage.check;

import java.util.List;

/// The result of a check.
///
/// @param directory of the journal
/// @param engine that wrote the journal
/// @param clean whether every byte is as it was written
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
