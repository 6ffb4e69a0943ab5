package io.penstock.node.replay;

import static java.util.Objects.requireNonNull;

import io.penstock.node.party.FlowPlan;
import io.penstock.node.party.ReplayPace;
import io.penstock.node.replay.report.ModelPayload;
import io.penstock.node.shape.ModelSize;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Subject of a report.
///
/// @param trace named for a person
/// @param plan of the flow
/// @param size of the blocks in the model
/// @param capacities for each tier its capacity; empty where the node decided
/// @param policy that chooses victims, or that the node decided
/// @param pace of the replay
/// @param ceilings of this machine, in 10⁹ bytes a second, by name; empty without `--ceilings`
/// @param payload what moves for a block of the model
/// @param compared policy whose hits the replay must have; null where the node runs already or has several KV groups
public record ReplaySubject(String trace, FlowPlan plan, ModelSize size, Map<String, String> capacities, String policy,
    ReplayPace pace, Map<String, Double> ceilings, ModelPayload payload, PolicyAlone.@Nullable Of compared) {
  public ReplaySubject {
    requireNonNull(trace, "trace");
    requireNonNull(plan, "plan");
    requireNonNull(size, "size");
    requireNonNull(pace, "pace");
    requireNonNull(payload, "payload");
  }

  /// A replay of blocks of one size.
  public ReplaySubject(String trace, FlowPlan plan, ModelSize size, Map<String, String> capacities, String policy,
      ReplayPace pace, Map<String, Double> ceilings) {
    this(trace, plan, size, capacities, policy, pace, ceilings, ModelPayload.of(plan.space().layout()), null);
  }

  /// A replay of blocks that are their own payload.
  public ReplaySubject(String trace, FlowPlan plan, Map<String, String> capacities, String policy, ReplayPace pace,
      Map<String, Double> ceilings) {
    this(trace, plan, ModelSize.of(plan.space().model(), plan.space().layout()), capacities, policy, pace, ceilings);
  }
}
