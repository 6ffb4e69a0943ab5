package io.penstock.node.config;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.text.Sizes;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/// One of several spaces of a node, as the key `spaces` of the file states it, or of one KV group of a model.
///
/// @param name short; the name of its tier
/// @param weight its part of the memory and the disk, in proportion to the weights of the other spaces
/// @param quotaBytes most host memory; empty for no quota
/// @param ssdQuotaBytes most bytes of its blocks on disk; empty for no quota
/// @param clusterQuotaBytes most bytes of its blocks at all members of the cluster; empty for no quota
/// @param effective its settings, those of its layout first
public record SpaceSettings(String name, CacheSpace space, double weight, Optional<Long> quotaBytes,
    Optional<Long> ssdQuotaBytes, Optional<Long> clusterQuotaBytes, List<Effective> effective) {
  static final Setting<Integer> WEIGHT = new Setting<>("weight", SettingType.count(1, 1_000_000), "1",
      "Part of dram and ssd that is guaranteed, in proportion to the weights of the other spaces.");
  static final Setting<Optional<Long>> QUOTA = new Setting<>("quota", AscendTypes.orNone(SettingType.longSize(4096)),
      "none", "Maximum host memory.");
  static final Setting<Optional<Long>> SSD_QUOTA =
      new Setting<>("ssd.quota", AscendTypes.orNone(SettingType.longSize(4096)), "none",
          "Maximum bytes of its blocks on disk; the other spaces divide the rest of ssd.");
  static final Setting<Optional<Long>> CLUSTER_QUOTA =
      new Setting<>("cluster.quota", AscendTypes.orNone(SettingType.longSize(4096)), "none",
          "Maximum bytes of its blocks in memory and on disk at all members of the cluster together; state it alike at"
              + " each.");
  public static final Setting<String> SALT = new Setting<>("salt",
      new SettingType<>("TEXT", "a text", String::strip, text -> text.isEmpty() ? "" : "stated"), "",
      "Secret of a tenant: the keys of other tenants never meet its keys.");
  public static final Setting<Optional<Integer>> VALUE_PART_BYTES = new Setting<>("value.part.bytes",
      AscendTypes.orNone(SettingType.size(4096, 8 << 20)), "none",
      "For a space of values of any length instead of blocks: how long the parts are in which it stores them.");

  /// Settings of a space in addition to its layout.
  static final List<Setting<?>> OWN = List.of(WEIGHT, QUOTA, SSD_QUOTA, CLUSTER_QUOTA, SALT, VALUE_PART_BYTES);
  /// All settings of a space.
  static final List<Setting<?>> ALL = Stream.concat(LayoutSettings.ALL.stream(), OWN.stream()).toList();

  public SpaceSettings {
    requireNonNull(name, "name");
    requireNonNull(space, "space");
    requireNonNull(quotaBytes, "quotaBytes");
    requireNonNull(ssdQuotaBytes, "ssdQuotaBytes");
    requireNonNull(clusterQuotaBytes, "clusterQuotaBytes");
    if (!(weight > 0)) {
      throw new IllegalArgumentException("weight must be > 0 (was " + weight + ")");
    }
    effective = List.copyOf(effective);
  }

  /// One line for people.
  public String words() {
    return "space %s: blocks of %s: %s; weight %s%s%s%s".formatted(name, space.model(), LayoutSettings.words(space),
        new DecimalFormat("0.###", DecimalFormatSymbols.getInstance(Locale.ROOT)).format(weight),
        quotaBytes.map(bytes -> ", quota " + Sizes.exact(bytes)).orElse(""),
        ssdQuotaBytes.map(bytes -> ", ssd quota " + Sizes.exact(bytes)).orElse(""),
        clusterQuotaBytes.map(bytes -> ", cluster quota " + Sizes.exact(bytes)).orElse(""));
  }
}
