package io.penstock.node.replay.report;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/// The hits that the policy of a replay has without bytes and levels, as they are written in JSON.
///
/// @param policy that chose the victims
/// @param capacityBlocks blocks of all levels together; absent without a bound
/// @param hits of the requests of the replay
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PolicyHits(String policy, @Nullable Long capacityBlocks, long hits) {
  public PolicyHits {
    requireNonNull(policy, "policy");
  }
}
