package io.penstock.examples.disaggregated;

import java.util.List;

/// What `penstock example disaggregated` prints as JSON.
///
/// @param mode push or pull
/// @param prefill parallelism and blocks of prefill nodes
/// @param decode parallelism and blocks of decode nodes
/// @param requests in the order in which they were asked
record DisaggregatedReport(String mode, String prefill, String decode, List<RequestReport> requests) {
  boolean isGood() {
    return requests.stream().allMatch(RequestReport::bitsEqual);
  }
}
