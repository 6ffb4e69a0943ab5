package io.penstock.node.door;

import static java.util.Objects.requireNonNull;

import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.DoorSpaceNames;
import io.penstock.node.config.NodeConfig;
import io.penstock.tier.BlockTier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The spaces of values of one door. Safe from any thread.
public final class DoorSpaces {
  private final DoorSpaceNames names;
  private final Map<String, DoorSpace> spaces = new HashMap<>();

  private DoorSpaces(DoorSpaceNames names) {
    this.names = names;
  }

  /// The spaces that `settings` of `config` name.
  ///
  /// @param tiers all of the node; that of a space has its name
  /// @param known spaces of all doors: one that two doors name is the same
  public static DoorSpaces of(DoorSettings settings, NodeConfig config, List<BlockTier> tiers,
      DoorTerms.Threads threads, DoorTerms.Clocks clocks, Map<String, DoorSpace> known) {
    DoorSpaces all = new DoorSpaces(config.get(settings.spaces()));
    for (String name : all.names.all()) {
      List<BlockTier> sizes = new ArrayList<>();
      for (String size : settings.sized(config, name)) {
        tiers.stream().filter(tier -> tier.info().name().equals(size)).forEach(sizes::add);
      }
      all.spaces.put(name, known.computeIfAbsent(name, each -> {
        DoorValues values = new DoorValues(sizes, NameMemory.of(config), threads, clocks);
        values.watch();
        return new DoorSpace(each, sizes, values, settings.memoryBytes(config, each));
      }));
    }
    return all;
  }

  /// The space of the first of `selectors` that has one of its own; that of all others if none has.
  ///
  /// @param selectors what the door tells clients apart by: a user, the number of a database, a bucket
  public DoorSpace of(String... selectors) {
    return space(names.of(selectors));
  }

  /// Every space, each once.
  public List<DoorSpace> all() {
    return names.all().stream().map(this::space).toList();
  }

  private DoorSpace space(String name) {
    return requireNonNull(spaces.get(name), name);
  }
}
