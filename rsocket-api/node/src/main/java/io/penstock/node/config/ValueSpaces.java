package io.penstock.node.config;

import io.penstock.block.CacheSpace;
import io.penstock.flow.ValueStore;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The spaces of values that doors need and the file does not state. A node whose settings state a model has the space
/// of its blocks beside them.
final class ValueSpaces {
  private static final String MAIN = "main";
  /// Weight of a space of short parts, beside that of the longest.
  private static final double SHORT = 0.25;

  private ValueSpaces() {}

  /// Adds them to `spaces`, and what keeps a door from its spaces to `problems`.
  static void addTo(List<SpaceSettings> spaces, NodeConfig config, List<String> problems) {
    List<DoorSettings> doors = DoorSettings.wanted(config);
    if (doors.isEmpty()) {
      return;
    }
    List<SpaceSettings> stated = List.copyOf(spaces);
    if (stated.isEmpty() && LayoutSettings.ALL.stream().anyMatch(config::states)) {
      spaces.add(new SpaceSettings(MAIN, config.space(), 1, Optional.empty(), Optional.empty(), Optional.empty(),
          config.layoutSettings()));
    }
    if (config.has(RankSettings.SIDE) && config.get(RankSettings.SIDE).isPresent()) {
      problems.add("rank.side must be none with %s: a rank has one space (%s)".formatted(doors.getFirst().name(),
          config.was(RankSettings.SIDE)));
    }
    Set<String> made = new LinkedHashSet<>();
    for (DoorSettings door : doors) {
      for (String name : config.get(door.spaces()).all()) {
        Optional<SpaceSettings> known = stated.stream().filter(space -> space.name().equals(name)).findFirst();
        if (known.isPresent()) {
          requireValues(known.get(), config, door.spaces(), problems);
        } else if (made.add(name)) {
          add(name, config.get(door.partBytes()), spaces);
        }
      }
    }
  }

  private static void requireValues(SpaceSettings space, NodeConfig config, Setting<?> spaces, List<String> problems) {
    if (space.space().layout().layers() > 1 || space.effective().stream()
        .noneMatch(one -> one.setting().equals(SpaceSettings.VALUE_PART_BYTES) && one.isGiven())) {
      problems.add("%s must name spaces with value.part.bytes, or none that the file states (%s; spaces.%s has blocks)"
          .formatted(spaces.key(), config.was(spaces), space.name()));
    }
  }

  private static void add(String name, List<Integer> sizes, List<SpaceSettings> spaces) {
    double weight = 1;
    for (int bytes : sizes) {
      CacheSpace space = ValueStore.space(name, bytes, "");
      spaces.add(new SpaceSettings(DoorSettings.sized(name, sizes, bytes), space, weight, Optional.empty(),
          Optional.empty(), Optional.empty(), List.of()));
      weight *= SHORT;
    }
  }
}
