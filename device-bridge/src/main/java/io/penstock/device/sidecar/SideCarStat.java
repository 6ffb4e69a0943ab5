package io.penstock.device.sidecar;

import java.util.EnumMap;
import java.util.Map;

/// What a node has of its side-car clients now, and has done for them.
///
/// @param regions mapped
/// @param bytes of these
/// @param copies calls that ended well
/// @param copiedBytes of these
/// @param failedCopies calls that were made and failed
/// @param refused requests that were answered with an error before anything was done
/// @param failures all answers that were errors, by code
public record SideCarStat(int clients, int regions, long bytes, long copies, long copiedBytes, long failedCopies,
    long refused,
    Map<SideCarCode, Long> failures) {
  static final SideCarStat NONE = new SideCarStat(0, 0, 0, 0, 0, 0, 0, Map.of());

  public SideCarStat {
    failures = Map.copyOf(failures);
  }

  /// Answers that were `code`.
  public long failures(SideCarCode code) {
    return failures.getOrDefault(code, 0L);
  }

  SideCarStat withFailure(SideCarCode code) {
    Map<SideCarCode, Long> sums = new EnumMap<>(SideCarCode.class);
    sums.putAll(failures);
    sums.merge(code, 1L, Long::sum);
    return new SideCarStat(clients, regions, bytes, copies, copiedBytes, failedCopies, refused, sums);
  }
}
