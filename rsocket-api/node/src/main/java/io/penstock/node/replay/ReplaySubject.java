package io.penstock.node.replay;

import static java.util.Objects.requireNonNull;

import io.penstock.node.party.FlowPlan;
import io.penstock.node.party.ReplayPace;
import java.util.Map;

/// Subject of a report.
///
/// @param trace named for a person
/// @param plan of the flow
/// @param capacities for each tier its capacity; empty where the node decided
/// @param policy that chooses victims, or that the node decided
/// @param pace of the replay
/// @param ceilings of this machine, in 10⁹ bytes a second, by name; empty without `--ceilings`
public record ReplaySubject(String trace, FlowPlan plan, Map<String, String> capacities, String policy, ReplayPace pace,
    Map<String, Double> ceilings) {
  public ReplaySubject {
    requireNonNull(trace, "trace");
    requireNonNull(plan, "plan");
    requireNonNull(pace, "pace");
  }
}
