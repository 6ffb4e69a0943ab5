package io.penstock.examples.disaggregated;

import io.penstock.examples.disaggregated.rank.SideReport;
import java.util.List;

/// What `penstock example disaggregated` prints as JSON.
///
/// @param mode push or pull
/// @param prefill parallelism and blocks of prefill nodes
/// @param decode parallelism and blocks of decode nodes
/// @param layers of the model; a layer of this number or above is the draft head's
/// @param draftLayers layers of the draft head
/// @param weights in the memory of ranks
/// @param requests in the order in which they were asked
record DisaggregatedReport(String mode, SideReport prefill, SideReport decode, int layers, int draftLayers,
    Weights weights,
    List<RequestReport> requests) {
  /// @param modelBytes of one rank that has all
  /// @param prefillRanks bytes of each rank of a prefill
  /// @param decodeRanks bytes of each rank of a decode
  record Weights(long modelBytes, List<Long> prefillRanks, List<Long> decodeRanks) {}

  boolean isGood() {
    return requests.stream().allMatch(RequestReport::bitsEqual);
  }
}
