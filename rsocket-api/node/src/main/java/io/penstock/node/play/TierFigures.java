package io.penstock.node.play;

import java.util.LinkedHashMap;
import java.util.Map;

/// What tiers did in a run.
///
/// @param hits by level, fastest first
/// @param evicted blocks that the policy chose as victims
/// @param moved times that a block changed its levels
/// @param diskBytes bytes read from disks
/// @param slowestNanos from the lease to the last block of the slowest answer
/// @param unanswered leases whose blocks had not all come at the end
/// @param refused calls that failed
record TierFigures(Map<String, Long> hits, long misses, long evicted, long moved, long diskBytes, long slowestNanos,
    long unanswered, long refused) {
  TierFigures {
    hits = new LinkedHashMap<>(hits);
  }

  long allHits() {
    return hits.values().stream().mapToLong(Long::longValue).sum();
  }
}
