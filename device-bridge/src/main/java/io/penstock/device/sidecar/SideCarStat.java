package io.penstock.device.sidecar;

import java.util.EnumMap;
import java.util.Map;

/// Counts of a node's side-car clients.
///
/// @param regions mapped now
/// @param bytes of these
/// @param copies calls that succeeded
/// @param copiedBytes of these
/// @param failedCopies calls that began and failed
/// @param refused requests that failed before any work
/// @param failures all errors, by code
public record SideCarStat(int clients, int regions, long bytes, long copies, long copiedBytes, long failedCopies,
    long refused,
    Map<SideCarCode, Long> failures) {
  public static final SideCarStat NONE = new SideCarStat(0, 0, 0, 0, 0, 0, 0, Map.of());

  public SideCarStat {
    failures = Map.copyOf(failures);
  }

  /// Answers that were `code`.
  public long failures(SideCarCode code) {
    return failures.getOrDefault(code, 0L);
  }

  public SideCarStat withFailure(SideCarCode code) {
    Map<SideCarCode, Long> sums = new EnumMap<>(SideCarCode.class);
    sums.putAll(failures);
    sums.merge(code, 1L, Long::sum);
    return new SideCarStat(clients, regions, bytes, copies, copiedBytes, failedCopies, refused, sums);
  }
}
