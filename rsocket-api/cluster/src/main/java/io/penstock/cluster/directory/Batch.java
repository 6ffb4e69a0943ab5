package io.penstock.cluster.directory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Names of blocks that wait to be sent, each with the last that is to be said of it. Not thread-safe.
final class Batch {
  private final Map<BlockName, Integer> levels = new LinkedHashMap<>();
  private int paced;

  /// @param level of the block; [VisibleLevels#NONE] to forget it
  void put(BlockName name, int level) {
    levels.put(name, level);
  }

  /// Puts a name that counts against the [Pace].
  void putPaced(BlockName name, int level) {
    paced++;
    put(name, level);
  }

  int size() {
    return levels.size();
  }

  /// Names that count against the pace.
  int paced() {
    return paced;
  }

  /// Sends the names, those of a level together. Each subscription sends them again.
  ///
  /// @param former rounds of this member before `round`
  Mono<Void> send(SharedMap map, long round, long[] former) {
    Map<Integer, List<BlockName>> byLevel = new LinkedHashMap<>();
    levels.forEach((name, level) -> byLevel.computeIfAbsent(level, any -> new ArrayList<>()).add(name));
    long[] all = Arrays.copyOf(former, former.length + 1);
    all[former.length] = round;
    return Flux.fromIterable(byLevel.entrySet()).concatMap(each -> each.getKey() == VisibleLevels.NONE
        ? map.forget(all, each.getValue())
        : map.announce(round, each.getKey(), former, each.getValue())).then();
  }
}
