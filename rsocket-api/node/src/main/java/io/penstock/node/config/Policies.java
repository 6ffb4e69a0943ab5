package io.penstock.node.config;

import io.penstock.block.EvictionPolicy;
import io.penstock.node.setting.SettingType;

/// The names of eviction policies on command lines and in settings.
public final class Policies {
  /// All names, for a help text.
  public static final String NAMES =
      "lru, lfu, fifo, s3_fifo, w_tinylfu, arc, length_aware, cost_aware, reuse_aware, adaptive or sessions";

  private static final SettingType<EvictionPolicy> TYPE = NodeSettings.POLICY.type();

  private Policies() {}

  /// The policy that `name` names; `-` stands for `_`, and case does not count.
  ///
  /// @param flag that has the name, for the complaint
  public static EvictionPolicy parse(String flag, String name) {
    try {
      return TYPE.parse().apply(name);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("%s must be %s (was %s)".formatted(flag, TYPE.rule(), name), e);
    }
  }

  public static String print(EvictionPolicy policy) {
    return TYPE.print().apply(policy);
  }
}
