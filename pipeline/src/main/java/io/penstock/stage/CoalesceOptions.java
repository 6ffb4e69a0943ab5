package io.penstock.stage;

import io.penstock.block.Checks;

/// Limits of a [Coalesce].
///
/// @param maxReads most keys being read at a time
/// @param maxWaitingReads most keys that wait for their read to start; one more fails at once
public record CoalesceOptions(int maxReads, int maxWaitingReads) {
  public CoalesceOptions {
    Checks.positive("maxReads", maxReads);
    Checks.positive("maxWaitingReads", maxWaitingReads);
  }

  /// 64 keys being read, 1,024 in line.
  public static CoalesceOptions defaults() {
    return new CoalesceOptions(64, 1024);
  }

  public CoalesceOptions withMaxReads(int maxReads) {
    return new CoalesceOptions(maxReads, maxWaitingReads);
  }

  public CoalesceOptions withMaxWaitingReads(int maxWaitingReads) {
    return new CoalesceOptions(maxReads, maxWaitingReads);
  }
}
