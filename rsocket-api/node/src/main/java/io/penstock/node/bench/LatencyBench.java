package io.penstock.node.bench;

import io.penstock.node.bench.LatencyReport.Get;
import io.penstock.node.bench.LatencyReport.LookUps;
import io.penstock.node.bench.Turns.Turn;
import io.penstock.node.cli.Progress;
import java.util.ArrayList;
import java.util.List;

/// Measures how long a get of one block takes, one at a time, and how many look-ups a connection answers, beside plain
/// RSocket requests, by turns.
final class LatencyBench {
  private final SideSetting setting;
  private final NearSide near;

  LatencyBench(SideSetting setting, NearSide near) {
    this.setting = setting;
    this.near = near;
  }

  LatencyReport run(List<Integer> blockSizes, int underWay, int batch, Progress progress) {
    List<Get> gets = new ArrayList<>();
    for (int blockBytes : blockSizes) {
      progress.next("gets of " + blockBytes + " B");
      gets.add(get(blockBytes));
      near.endFar();
    }
    progress.next("look-ups");
    LookUps lookUps = lookUps(underWay, batch);
    near.endFar();
    return LatencyReport.of(setting, gets, lookUps);
  }

  private Get get(int blockBytes) {
    try (Load ours = near.blocks(blockBytes, 1, Direction.GET); Load plain = near.plain(blockBytes, 1)) {
      List<List<Turn>> turns = turns(List.of(ours, plain));
      return Get.of(blockBytes, turns.getFirst(), turns.getLast());
    }
  }

  private LookUps lookUps(int underWay, int batch) {
    try (Load single = near.lookUps(1, underWay);
        Load plain = near.plain(0, underWay);
        Load batched = near.lookUps(batch, underWay)) {
      List<List<Turn>> turns = turns(List.of(single, plain, batched));
      return LookUps.of(underWay, batch, turns.getFirst(), turns.get(1), turns.getLast());
    }
  }

  private List<List<Turn>> turns(List<Load> loads) {
    Turns turns = new Turns(near, setting);
    turns.warmUp(loads);
    return turns.of(loads);
  }
}
