package io.penstock.node.tiers;

import io.penstock.block.EvictionPolicy;
import io.penstock.node.config.Policies;
import io.penstock.node.setting.Capacity;
import io.penstock.node.text.Reason;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/// A change of recorded tiers. What is null stays as it was.
///
/// @param hbm blocks in device memory
/// @param dram blocks in host memory
/// @param ssd blocks on disk
public record TierChange(@Nullable EvictionPolicy policy, @Nullable Capacity hbm, @Nullable Capacity dram,
    @Nullable Capacity ssd) {
  /// What can be changed, for a help text.
  public static final String NAMES = "policy, hbm, dram, ssd";

  public static final TierChange NONE = new TierChange(null, null, null, null);

  public TierChange {
    if (Capacity.UNBOUNDED.equals(hbm)) {
      throw new IllegalArgumentException("hbm must be a size, \"N blocks\", or 0 for off (was unbounded)");
    }
  }

  /// Reads `policy=arc,dram=200 blocks`. Sizes are of the blocks as they were recorded.
  ///
  /// @param flag that has the text, for the complaint
  public static TierChange parse(String flag, String text) {
    Map<String, String> values = new LinkedHashMap<>();
    for (String part : text.split(",", -1)) {
      int equals = part.indexOf('=');
      String name = (equals < 0 ? part : part.substring(0, equals)).strip();
      if (equals < 0 || !(", " + NAMES + ",").contains(", " + name + ",") || name.isEmpty()) {
        throw new IllegalArgumentException(
            "%s must be NAME=VALUE with the names %s (was %s)".formatted(flag, NAMES, part.strip()));
      }
      if (values.put(name, part.substring(equals + 1).strip()) != null) {
        throw new IllegalArgumentException("%s must name %s once (was twice)".formatted(flag, name));
      }
    }
    String policy = values.get("policy");
    return new TierChange(policy == null ? null : Policies.parse(flag + " policy", policy),
        capacity(flag, "hbm", values), capacity(flag, "dram", values), capacity(flag, "ssd", values));
  }

  private static @Nullable Capacity capacity(String flag, String name, Map<String, String> values) {
    String text = values.get(name);
    try {
      return text == null ? null : Capacity.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(Reason.about(flag + " " + name, e), e);
    }
  }

  /// *policy=arc,dram=200 blocks*
  @Override
  public String toString() {
    StringJoiner parts = new StringJoiner(",");
    if (policy != null) {
      parts.add("policy=" + Policies.print(policy));
    }
    add(parts, "hbm", hbm);
    add(parts, "dram", dram);
    add(parts, "ssd", ssd);
    return parts.length() == 0 ? "none" : parts.toString();
  }

  private static void add(StringJoiner parts, String name, @Nullable Capacity value) {
    if (value != null) {
      parts.add(name + "=" + value);
    }
  }
}
