package io.penstock.node.config;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.flow.ValueStore;
import io.penstock.node.setting.Origin;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.wire.protocol.Limits;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The settings of a node and their origins: defaults, then a file, then the environment, then flags, each winning over
/// those before.
///
/// Immutable.
public final class NodeConfig {
  /// One setting in effect.
  ///
  /// @param text the value as `SettingType` prints it
  public record Effective(Setting<?> setting, String text, Origin origin) {
    public boolean isGiven() {
      return origin.kind() != Origin.Kind.DEFAULT;
    }
  }

  private final Map<Setting<?>, Object> values;
  private final List<Effective> effective;
  private final List<SpaceSettings> spaces;

  private NodeConfig(Map<Setting<?>, Object> values, List<Effective> effective, List<SpaceSettings> spaces) {
    this.values = values;
    this.effective = List.copyOf(effective);
    this.spaces = List.copyOf(spaces);
  }

  /// Every setting at its default.
  public static NodeConfig defaults() {
    return resolve(null, Map.of(), Map.of());
  }

  /// @param file read if not null, else the one that `PENSTOCK_CONFIG` names, if any
  /// @param environment variables of the process
  /// @param flags texts of the options that were given
  /// @throws ConfigException naming every problem
  public static NodeConfig resolve(@Nullable Path file, Map<String, String> environment,
      Map<Setting<?>, String> flags) {
    List<Given> given = new ArrayList<>();
    List<SpaceGiven> spaces = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    Path read = file == null && environment.containsKey(EnvironmentSource.CONFIG)
        ? Path.of(environment.get(EnvironmentSource.CONFIG))
        : file;
    if (read != null) {
      YamlSource.read(read, given, spaces, problems);
    }
    EnvironmentSource.read(environment, given, problems);
    flags.forEach((setting, text) -> given.add(new Given(setting, text, Origin.ofFlag(setting.flag()))));
    return resolved(given, spaces, problems);
  }

  private static NodeConfig resolved(List<Given> given, List<SpaceGiven> stated, List<String> problems) {
    NodeConfig config = read(NodeSettings.ALL, given, problems);
    if (stated.isEmpty() && config.has(LayoutSettings.MODEL)) {
      StatedLayout.requireKnown(config, problems);
    }
    ConfigRules.require(config, problems);
    List<SpaceSettings> spaces = StatedSpaces.of(config, stated, problems);
    if (problems.isEmpty() && (!spaces.isEmpty() || config.get(NodeSettings.SPACES_OPEN))) {
      StatedSpaces.requireRoom(config, problems);
    }
    if (problems.isEmpty()) {
      return new NodeConfig(config.values, config.effective, spaces);
    }
    throw new ConfigException(problems.stream().distinct().toList());
  }

  /// This configuration with a layout and settings of one space; adds their problems to `problems`.
  NodeConfig withLayoutOf(List<Given> stated, List<String> problems) {
    List<Given> given = new ArrayList<>();
    effective.stream().filter(one -> LayoutSettings.ALL.contains(one.setting()) && one.isGiven())
        .forEach(one -> given.add(new Given(one.setting(), one.text(), one.origin())));
    given.addAll(stated);
    NodeConfig space = read(SpaceSettings.ALL, given, problems);
    if (problems.isEmpty()) {
      StatedLayout.requireKnown(space, problems);
      StatedLayout.require(space, problems);
    }
    return space;
  }

  private static NodeConfig read(List<Setting<?>> settings, List<Given> given, List<String> problems) {
    Map<Setting<?>, Given> last = new LinkedHashMap<>();
    settings.forEach(setting -> last.put(setting, new Given(setting, setting.initial(), Origin.ofDefault())));
    Map<Setting<?>, Object> values = new HashMap<>();
    for (Given one : given) {
      last.put(one.setting(), one);
      read(one.setting(), one, problems); // a wrong value is reported even where another overrules it
    }
    List<Effective> effective = new ArrayList<>();
    last.forEach((setting, one) -> keep(setting, one, values, effective));
    return new NodeConfig(values, effective, List.of());
  }

  private static <T> void keep(Setting<T> setting, Given one, Map<Setting<?>, Object> values,
      List<Effective> effective) {
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

  /// Whether `setting` has a value; it has none if its text was refused.
  boolean has(Setting<?> setting) {
    return values.containsKey(setting);
  }

  /// Whether a source states `setting`, which has no value else.
  public boolean states(Setting<?> setting) {
    return has(setting) && effective(setting).isGiven();
  }

  /// Whether a source asks for something: one that states the default, as a printed configuration does, does not.
  boolean changes(Setting<?> setting) {
    return states(setting) && !get(setting).equals(setting.type().parse().apply(setting.initial()));
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
    @SuppressWarnings("unchecked") // the only writer is resolved(), which reads the value with the setting's own type
    T value = (T) requireNonNull(values.get(setting), setting.key());
    return value;
  }

  /// Every setting with value and origin, in the table's order. What `write.policy` decides is as it decides.
  public List<Effective> effective() {
    return effective.stream().map(this::decided).toList();
  }

  private Effective decided(Effective one) {
    if (!has(NodeSettings.WRITE_POLICY) || get(NodeSettings.WRITE_POLICY).isEmpty() || one.isGiven()) {
      return one;
    }
    Origin policy = effective(NodeSettings.WRITE_POLICY).origin();
    if (one.setting().equals(NodeSettings.STACK_MODE)) {
      return new Effective(one.setting(), NodeSettings.STACK_MODE.type().print().apply(Writing.mode(this)), policy);
    }
    return one.setting().equals(NodeSettings.SSD_OFFLOAD_USES)
        ? new Effective(one.setting(), String.valueOf(Writing.offloadUses(this)), policy)
        : one;
  }

  /// A sentence for each setting without effect that was given a value other than its default.
  public List<String> withoutEffect() {
    return effective.stream().filter(one -> one.isGiven() && !one.text().equals(printed(one.setting())))
        .flatMap(one -> one.setting().noEffect().stream()
            .map(reason -> "%s has no effect here because %s (%s)".formatted(one.setting().key(), reason,
                was(one.setting()))))
        .toList();
  }

  /// The default as `SettingType` prints it.
  private static <T> String printed(Setting<T> setting) {
    return setting.type().print().apply(setting.read(setting.initial(), Origin.ofDefault()));
  }

  /// Layout of the blocks: those of the rank that the node is, if it is one; the largest of a model with several KV
  /// groups.
  public BlockLayout layout() {
    return rank().map(NodeRank::layout).orElseGet(() -> StatedLayout.largest(this).layout());
  }

  /// This configuration for each KV group of its model; itself where the model has one group, or one is chosen.
  public List<NodeConfig> groups() {
    List<StatedLayout.Blocks> blocks = isOfValues() ? List.of() : StatedLayout.blocks(this);
    return blocks.size() < 2
        ? List.of(this)
        : blocks.stream().map(group -> ofGroup(group.name())).toList();
  }

  /// Tokens of a block of the layers that keep a cache by token.
  public int blockTokens() {
    return get(LayoutSettings.BLOCK_TOKENS).orElse(BlockShape.DEFAULT_TOKENS);
  }

  /// Whether the space is one of values of any length, which no model gives a layout.
  boolean isOfValues() {
    return has(SpaceSettings.VALUE_PART_BYTES) && get(SpaceSettings.VALUE_PART_BYTES).isPresent();
  }

  /// This configuration with the blocks of one KV group.
  NodeConfig ofGroup(String name) {
    Map<Setting<?>, Object> changed = new HashMap<>(values);
    changed.put(LayoutSettings.GROUP, Optional.of(name));
    return new NodeConfig(changed, effective, List.of());
  }

  /// The settings of the layout that are in effect.
  List<Effective> layoutSettings() {
    return effective.stream().filter(one -> LayoutSettings.ALL.contains(one.setting())).toList();
  }

  /// This configuration of a client that works with the blocks of one KV group.
  ///
  /// @throws ConfigException if its model has several and none is chosen
  public NodeConfig ofOneGroup() {
    List<String> problems = new ArrayList<>();
    if (!isOfValues()) {
      StatedLayout.requireOneGroup(this, problems);
    }
    if (problems.isEmpty()) {
      return this;
    }
    throw new ConfigException(problems);
  }

  /// The rank of an instance that the node is; empty if it is none.
  public Optional<NodeRank> rank() {
    return RankSettings.of(this);
  }

  /// Whether several spaces share the host memory, now or when clients open them.
  public boolean isShared() {
    return !spaces.isEmpty() || get(NodeSettings.SPACES_OPEN);
  }

  /// Layouts of the blocks of all spaces.
  public List<BlockLayout> layouts() {
    return spaces.isEmpty() ? List.of(layout()) : spaces.stream().map(space -> space.space().layout()).toList();
  }

  /// Limits of a request.
  public Limits limits() {
    return Limits.defaults().withMaxSliceBytes(get(NodeSettings.SLICE_BYTES))
        .withWindowBlocks(get(NodeSettings.WINDOW_BLOCKS));
  }

  /// The spaces that the file states, and those of the KV groups of a model; none if the node has one space,
  /// [#space()], or opens them when clients ask.
  public List<SpaceSettings> spaces() {
    return spaces;
  }

  /// The space whose blocks the node holds, unless it has several; or the space of a client. For a model with several
  /// KV groups the one of the largest blocks.
  public CacheSpace space() {
    String salt = has(SpaceSettings.SALT) ? get(SpaceSettings.SALT) : "";
    Optional<Integer> parts = has(SpaceSettings.VALUE_PART_BYTES)
        ? get(SpaceSettings.VALUE_PART_BYTES)
        : Optional.empty();
    return parts.map(bytes -> ValueStore.space(get(LayoutSettings.MODEL), bytes, salt))
        .orElseGet(() -> part(new CacheSpace(get(LayoutSettings.MODEL), layout(), StatedLayout.largest(this).group(),
            salt)))
        .withFingerprint(get(LayoutSettings.FINGERPRINT).orElse(""));
  }

  private CacheSpace part(CacheSpace space) {
    return rank().map(rank -> rank.part(space)).orElse(space);
  }
}
