package io.penstock.gateway.simulate;

import io.penstock.gateway.choice.Policy;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A row of the table: a policy of the router, or a yardstick.
///
/// @param policy of the router; null for a yardstick
/// @param tells whether the instances tell what they store
/// @param isPooled whether all instances have one cache of the sum of their capacities
record SimulatedPolicy(String name, @Nullable Policy policy, boolean tells, boolean isPooled) {
  /// Knows every cache at every moment, and sends each prompt where most of it is.
  static final SimulatedPolicy ORACLE = new SimulatedPolicy("(oracle)", null, true, false);
  /// One cache for all.
  static final SimulatedPolicy POOLED = new SimulatedPolicy("(one cache)", Policy.LOAD, true, true);

  static SimulatedPolicy of(Policy policy) {
    return new SimulatedPolicy(policy.name().toLowerCase(Locale.ROOT), policy, true, false);
  }

  /// A prefix policy whose instances tell nothing.
  static SimulatedPolicy silent() {
    return new SimulatedPolicy("prefix, no events", Policy.PREFIX, false, false);
  }
}
