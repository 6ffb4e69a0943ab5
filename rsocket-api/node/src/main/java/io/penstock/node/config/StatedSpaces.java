package io.penstock.node.config;

import io.penstock.block.SpaceId;
import io.penstock.device.memory.MemoryPages;
import io.penstock.node.setting.Capacity;
import io.penstock.node.setting.Setting;
import io.penstock.node.text.Sizes;
import io.penstock.stack.shape.StackOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/// The spaces of a file. A space takes missing parts of its layout from the node's settings.
final class StatedSpaces {
  private final NodeConfig config;
  private final Map<String, List<Given>> stated;
  private final List<String> problems;

  private StatedSpaces(NodeConfig config, List<SpaceGiven> given, List<String> problems) {
    this.config = config;
    this.stated = given.stream().collect(Collectors.groupingBy(SpaceGiven::space, LinkedHashMap::new,
        Collectors.mapping(SpaceGiven::given, Collectors.toList())));
    this.problems = problems;
  }

  /// The spaces in the order of the file; adds their problems to `problems`.
  static List<SpaceSettings> of(NodeConfig config, List<SpaceGiven> given, List<String> problems) {
    return new StatedSpaces(config, given, problems).spaces();
  }

  private List<SpaceSettings> spaces() {
    List<SpaceSettings> spaces = new ArrayList<>();
    if (!stated.isEmpty() && config.has(RankSettings.SIDE) && config.get(RankSettings.SIDE).isPresent()) {
      problems.add("rank.side must be none with spaces: a rank has one space (%s)".formatted(
          config.was(RankSettings.SIDE)));
    }
    stated.forEach((name, given) -> spaces.addAll(spaces(name, given)));
    if (stated.isEmpty() && problems.isEmpty()) {
      spaces.addAll(groups(config));
    }
    if (problems.isEmpty()) {
      ValueSpaces.addTo(spaces, config, problems);
    }
    Map<SpaceId, String> ids = new HashMap<>();
    for (SpaceSettings space : spaces) {
      String other = ids.putIfAbsent(space.space().id(), space.name());
      if (other != null) {
        problems
            .add("spaces.%s must differ from spaces.%s in model, layout, fingerprint or salt (was the same)".formatted(
                space.name(), other));
      }
    }
    return spaces;
  }

  /// The space of a name, or those of its KV groups.
  private List<SpaceSettings> spaces(String name, List<Given> given) {
    List<String> own = new ArrayList<>();
    NodeConfig space = config.withLayoutOf(given, own);
    if (own.isEmpty()) {
      requireQuota(space, SpaceSettings.QUOTA, own);
      requireQuota(space, SpaceSettings.SSD_QUOTA, own);
      requireQuota(space, SpaceSettings.CLUSTER_QUOTA, own);
    }
    own.forEach(problem -> problems.add("spaces." + name + ": " + problem));
    return own.isEmpty() ? spaces(name, space) : List.of();
  }

  private static List<SpaceSettings> spaces(String name, NodeConfig space) {
    List<StatedLayout.Blocks> groups = space.isOfValues() ? List.of() : StatedLayout.blocks(space);
    double weight = space.get(SpaceSettings.WEIGHT);
    return groups.size() < 2
        ? List.of(space(name, space, weight, 1))
        : shares(groups, (group, share) -> space(name + "-" + group.name(), space.ofGroup(group.name()),
            weight * share, share));
  }

  /// The spaces of a node whose model has several KV groups; none where it has one.
  private static List<SpaceSettings> groups(NodeConfig config) {
    List<StatedLayout.Blocks> groups = StatedLayout.blocks(config);
    return groups.size() == 1
        ? List.of()
        : shares(groups, (group, share) -> new SpaceSettings(group.name(), config.ofGroup(group.name()).space(), share,
            Optional.empty(), Optional.empty(), Optional.empty(), config.layoutSettings()));
  }

  /// Memory for equally many tokens of each group.
  private static List<SpaceSettings> shares(List<StatedLayout.Blocks> groups,
      BiFunction<StatedLayout.Blocks, Double, SpaceSettings> space) {
    double all = groups.stream().mapToDouble(StatedLayout.Blocks::bytesPerToken).sum();
    return groups.stream().map(group -> space.apply(group, group.bytesPerToken() / all)).toList();
  }

  private static void requireQuota(NodeConfig space, Setting<Optional<Long>> quota, List<String> problems) {
    int blockBytes = space.space().layout().blockBytes();
    if (space.get(quota).orElse(Long.MAX_VALUE) < blockBytes) {
      problems.add("%s must be >= one block of %s (%s)".formatted(quota.key(), Sizes.exact(blockBytes),
          space.was(quota)));
    }
  }

  /// @param share part of the quotas
  private static SpaceSettings space(String name, NodeConfig space, double weight, double share) {
    return new SpaceSettings(name, space.space(), weight, part(space, SpaceSettings.QUOTA, share),
        part(space, SpaceSettings.SSD_QUOTA, share), part(space, SpaceSettings.CLUSTER_QUOTA, share),
        space.effective());
  }

  private static Optional<Long> part(NodeConfig space, Setting<Optional<Long>> quota, double share) {
    return space.get(quota).map(bytes -> Math.max(space.layout().blockBytes(), (long) (bytes * share)));
  }

  /// Adds the settings of the node that are not for several spaces.
  static void requireRoom(NodeConfig config, List<String> problems) {
    if (!config.get(NodeSettings.HBM).isOff()) {
      problems.add("hbm must be off with spaces (%s)".formatted(config.was(NodeSettings.HBM)));
    }
    if (!(config.get(NodeSettings.DRAM) instanceof Capacity.Bytes)) {
      problems.add(
          "dram must be a number of bytes with spaces, which share it (%s)".formatted(config.was(NodeSettings.DRAM)));
    }
    if (config.get(NodeSettings.SSD).equals(Capacity.UNBOUNDED)) {
      problems.add("ssd must be bounded with spaces, which divide it (%s)".formatted(config.was(NodeSettings.SSD)));
    }
    if (Writing.mode(config) != StackOptions.Mode.EXCLUSIVE) {
      Setting<?> said =
          config.get(NodeSettings.WRITE_POLICY).isPresent() ? NodeSettings.WRITE_POLICY : NodeSettings.STACK_MODE;
      problems.add(("%s must not be write_through with spaces, whose blocks go to the disk when they leave memory: what"
          + " lies in memory alone when the node ends is gone (%s)").formatted(said.key(), config.was(said)));
    }
    if (config.get(NodeSettings.MEMORY_PAGES) == MemoryPages.HUGE) {
      problems.add("memory.pages must not be huge with spaces (%s)".formatted(
          config.was(NodeSettings.MEMORY_PAGES)));
    }
  }
}
