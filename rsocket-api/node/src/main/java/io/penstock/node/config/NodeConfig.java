package io.penstock.node.config;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.device.memory.MemoryPages;
import io.penstock.storage.record.RecordFormat;
import io.penstock.tier.StackMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a node was told, and by whom: defaults, then a file, then the environment, then flags, each winning over those before.
///
/// Immutable.
public final class NodeConfig {
  /// One setting in effect.
  ///
  /// @param text the value as [SettingType] prints it
  public record Effective(Setting<?> setting, String text, Origin origin) {
    public boolean isGiven() {
      return origin.kind() != Origin.Kind.DEFAULT;
    }
  }

  private final Map<Setting<?>, Object> values;
  private final List<Effective> effective;

  private NodeConfig(Map<Setting<?>, Object> values, List<Effective> effective) {
    this.values = values;
    this.effective = List.copyOf(effective);
  }

  /// Every setting at its default.
  public static NodeConfig defaults() {
    return resolve(null, Map.of(), Map.of());
  }

  /// @param file read if not null, else the one that `PENSTOCK_CONFIG` names, if any
  /// @param environment variables of the process
  /// @param flags texts of the options that were given
  /// @throws ConfigException naming every problem
  public static NodeConfig resolve(@Nullable Path file, Map<String, String> environment, Map<Setting<?>, String> flags) {
    List<Given> given = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    Path read = file == null && environment.containsKey(EnvironmentSource.CONFIG) ? Path.of(environment.get(EnvironmentSource.CONFIG)) : file;
    if (read != null) {
      YamlSource.read(read, given, problems);
    }
    EnvironmentSource.read(environment, given, problems);
    flags.forEach((setting, text) -> given.add(new Given(setting, text, Origin.ofFlag(setting.flag()))));
    return settle(given, problems);
  }

  private static NodeConfig settle(List<Given> given, List<String> problems) {
    Map<Setting<?>, Given> last = new LinkedHashMap<>();
    NodeSettings.ALL.forEach(setting -> last.put(setting, new Given(setting, setting.initial(), Origin.ofDefault())));
    Map<Setting<?>, Object> values = new HashMap<>();
    for (Given one : given) {
      last.put(one.setting(), one);
      read(one.setting(), one, problems); // an overruled value that is wrong is told too
    }
    List<Effective> effective = new ArrayList<>();
    last.forEach((setting, one) -> settle(setting, one, values, effective));
    if (problems.isEmpty()) {
      NodeConfig config = new NodeConfig(values, effective);
      config.requireFit(problems);
      if (problems.isEmpty()) {
        return config;
      }
    }
    throw new ConfigException(problems.stream().distinct().toList());
  }

  private static <T> void settle(Setting<T> setting, Given one, Map<Setting<?>, Object> values, List<Effective> effective) {
    T value = read(setting, one, new ArrayList<>());
    if (value != null) {
      values.put(setting, value);
      effective.add(new Effective(setting, setting.type().print().apply(value), one.origin()));
    }
  }

  private static <T> @Nullable T read(Setting<T> setting, Given one, List<String> problems) {
    try {
      return setting.read(one.text(), one.origin());
    } catch (IllegalArgumentException e) {
      problems.add(String.valueOf(e.getMessage()));
      return null;
    }
  }

  /// The rules that tie several settings together.
  private void requireFit(List<String> problems) {
    int blockBytes = get(NodeSettings.BLOCK_BYTES);
    requireShape(problems, blockBytes);
    requireTiers(problems, blockBytes);
    requireSegments(problems);
    requireWater(problems);
    AscendSettings.requireFit(this, problems);
    requireAtLeast(problems, NodeSettings.BUDGET, get(NodeSettings.BUDGET), NodeSettings.SLICE_BYTES, get(NodeSettings.SLICE_BYTES));
    requireAtLeast(problems, NodeSettings.RESERVE_BLOCKS, get(NodeSettings.RESERVE_BLOCKS), NodeSettings.WINDOW_BLOCKS,
        get(NodeSettings.WINDOW_BLOCKS));
  }

  private void requireWater(List<String> problems) {
    requireAtLeast(problems, NodeSettings.SSD_DISK_HIGH, get(NodeSettings.SSD_DISK_HIGH), NodeSettings.SSD_DISK_LOW,
        get(NodeSettings.SSD_DISK_LOW));
  }

  private void requireTiers(List<String> problems, int blockBytes) {
    List<Setting<Capacity>> levels = List.of(NodeSettings.HBM, NodeSettings.DRAM, NodeSettings.SSD);
    for (Setting<Capacity> level : levels) {
      if (get(level) instanceof Capacity.Bytes some && some.bytes() < blockBytes) {
        problems.add("%s must be >= one block, %s (%s)".formatted(level.key(), said(NodeSettings.BLOCK_BYTES), was(level)));
      }
    }
    if (levels.stream().allMatch(level -> get(level).isOff())) {
      problems.add("one of hbm, dram and ssd must be > 0 (all are off)");
    }
    if (get(NodeSettings.DRAM).equals(Capacity.UNBOUNDED) && get(NodeSettings.MEMORY_PAGES) == MemoryPages.HUGE) {
      problems.add("dram must be bounded for %s, which takes all of it at the start (%s)".formatted(said(NodeSettings.MEMORY_PAGES),
          was(NodeSettings.DRAM)));
    }
    if (get(NodeSettings.HBM).isOff() && get(NodeSettings.HBM_DEVICE) != DeviceKind.SIM) {
      problems.add("hbm must be > 0 for %s (%s)".formatted(said(NodeSettings.HBM_DEVICE), was(NodeSettings.HBM)));
    }
    if (!get(NodeSettings.SSD).isOff() && get(NodeSettings.SSD_DIR).isEmpty()) {
      problems.add("ssd.dir must be a folder when ssd is on (%s)".formatted(was(NodeSettings.SSD_DIR)));
    }
    if (get(NodeSettings.SSD).isOff() && get(NodeSettings.STACK_MODE) == StackMode.WRITE_THROUGH) {
      problems.add("ssd must be > 0 to be written through to (%s)".formatted(was(NodeSettings.SSD)));
    }
    if (problems.isEmpty() && get(NodeSettings.STACK_MODE) == StackMode.WRITE_THROUGH) {
      requireLarger(problems, levels.stream().filter(level -> !get(level).isOff()).toList(), blockBytes);
    }
  }

  /// Written through, each level repeats what is above it.
  private void requireLarger(List<String> problems, List<Setting<Capacity>> levels, int blockBytes) {
    for (int i = 1; i < levels.size(); i++) {
      Setting<Capacity> above = levels.get(i - 1);
      Setting<Capacity> level = levels.get(i);
      if (get(level).inBlocks(blockBytes) <= get(above).inBlocks(blockBytes)) {
        problems.add("%s must be > %s, which it repeats when stack.mode is write_through (%s)".formatted(level.key(), said(above), was(level)));
      }
    }
  }

  /// Nothing to say while the block's shape is in doubt.
  private void requireSegments(List<String> problems) {
    if (problems.isEmpty() && !get(NodeSettings.SSD).isOff()) {
      long least = 8L * RecordFormat.recordBytes(shape().layout());
      long bytes = get(NodeSettings.SSD_SEGMENT_BYTES); // 0 is auto
      if (bytes > 0 && bytes < least) {
        problems.add("ssd.segment.bytes must be >= 8 records of a block, %d B (%s)".formatted(least, was(NodeSettings.SSD_SEGMENT_BYTES)));
      }
    }
  }

  private void requireShape(List<String> problems, int blockBytes) {
    long unit = BlockShape.unit(get(NodeSettings.LAYERS), get(NodeSettings.BLOCK_TOKENS));
    if (blockBytes % unit != 0) {
      problems.add("block.bytes must be a multiple of %d B, that is 4 B x %s x %s (%s)".formatted(unit, said(NodeSettings.LAYERS),
          said(NodeSettings.BLOCK_TOKENS), was(NodeSettings.BLOCK_BYTES)));
    }
  }

  private void requireAtLeast(List<String> problems, Setting<?> bigger, long more, Setting<?> smaller, long less) {
    if (more < less) {
      problems.add("%s must be >= %s (%s)".formatted(bigger.key(), said(smaller), was(bigger)));
    }
  }

  /// Key, value and source, for a rule that names another setting.
  String said(Setting<?> setting) {
    Effective one = effective(setting);
    return "%s %s from %s".formatted(setting.key(), one.text(), one.origin());
  }

  String was(Setting<?> setting) {
    Effective one = effective(setting);
    return "was %s, from %s".formatted(one.text(), one.origin());
  }

  /// The setting with value and origin.
  public Effective effective(Setting<?> setting) {
    return effective.stream().filter(one -> one.setting().equals(setting)).findFirst().orElseThrow();
  }

  public <T> T get(Setting<T> setting) {
    @SuppressWarnings("unchecked") // the only writer is settle(), which reads the value with the setting's own type
    T value = (T) requireNonNull(values.get(setting), setting.key());
    return value;
  }

  /// Every setting with value and origin, in the table's order.
  public List<Effective> effective() {
    return effective;
  }

  /// A sentence for each setting that somebody gave a value other than its default, and that does nothing.
  public List<String> withoutEffect() {
    return effective.stream().filter(one -> one.isGiven() && !one.text().equals(printed(one.setting()))).flatMap(one -> one.setting().noEffect().stream()
        .map(reason -> "%s has no effect here because %s (%s)".formatted(one.setting().key(), reason, was(one.setting())))).toList();
  }

  /// The default as [SettingType] prints it.
  private static <T> String printed(Setting<T> setting) {
    return setting.type().print().apply(setting.read(setting.initial(), Origin.ofDefault()));
  }

  public BlockShape shape() {
    return new BlockShape(get(NodeSettings.BLOCK_BYTES), get(NodeSettings.LAYERS), get(NodeSettings.BLOCK_TOKENS));
  }

  /// The space whose blocks the node holds.
  public CacheSpace space() {
    return shape().space(get(NodeSettings.MODEL));
  }
}
