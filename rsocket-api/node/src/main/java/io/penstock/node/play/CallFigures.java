package io.penstock.node.play;

import io.penstock.tier.TierStat;
import java.util.LinkedHashMap;
import java.util.Map;

/// Counts what tiers do under the calls of a recording. One thread.
final class CallFigures {
  private final Map<String, Long> hits = new LinkedHashMap<>();
  private long misses;
  private long evicted;
  private long moved;
  private long diskBytes;
  private long slowest;
  private long refused;

  void refused() {
    refused++;
  }

  void moved() {
    moved++;
  }

  void answered(long nanos) {
    slowest = Math.max(slowest, nanos);
  }

  /// Adds the figures of a tier that is about to be closed.
  void add(TierStat stat) {
    stat.levels().forEach(level -> hits.merge(level.name(), level.hits(), Long::sum));
    misses += stat.misses();
    evicted += stat.evicted();
  }

  void addDiskBytes(long bytes) {
    diskBytes += bytes;
  }

  TierFigures figures(long unanswered) {
    return new TierFigures(hits, misses, evicted, moved, diskBytes, slowest, unanswered, refused);
  }
}
