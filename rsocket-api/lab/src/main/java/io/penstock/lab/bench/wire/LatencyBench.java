package io.penstock.lab.bench.wire;

import io.penstock.lab.bench.side.BenchBlocks;
import io.penstock.lab.bench.side.BenchProgress;
import io.penstock.lab.bench.side.BenchTransport;
import io.penstock.lab.bench.side.Direction;
import io.penstock.lab.bench.side.Load;
import io.penstock.lab.bench.side.NearSide;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.side.Turns;
import io.penstock.lab.bench.side.Turns.Turn;
import io.penstock.lab.bench.wire.LatencyReport.Borrowed;
import io.penstock.lab.bench.wire.LatencyReport.Get;
import io.penstock.lab.bench.wire.LatencyReport.LookUps;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Measures the time of a get of one block, one at a time, and the look-ups that a connection answers. Plain RSocket
/// requests take turns with them for comparison.
final class LatencyBench {
  private static final int BORROWED_BYTES = 4 << 20;
  private static final int BORROWED_LAYERS = 32;
  private static final int COPIED_BYTES = 256 << 10;

  private final SideSetting setting;
  private final NearSide near;
  private final @Nullable Load bare;

  /// @param bare a round trip to compare gets with; null for none
  LatencyBench(SideSetting setting, NearSide near, @Nullable Load bare) {
    this.setting = setting;
    this.near = near;
    this.bare = bare;
  }

  /// Running time of all loads.
  ///
  /// @param rows of gets
  /// @param hasBare whether a bare round trip is measured, too
  static long nanos(SideSetting setting, int rows, boolean hasBare) {
    return rows * Turns.nanos(setting, hasBare ? 4 : 3) + Turns.nanos(setting, 3)
        + (setting.transport() == BenchTransport.SHARED ? Turns.nanos(setting, 2) : 0);
  }

  LatencyReport run(List<Integer> blockSizes, int underWay, int batch, BenchProgress progress) {
    List<Get> gets = new ArrayList<>();
    for (int blockBytes : blockSizes) {
      progress.next("gets of " + blockBytes + " B");
      gets.add(get(blockBytes, progress));
      near.endFar();
    }
    progress.next("look-ups");
    LookUps lookUps = lookUps(underWay, batch, progress);
    near.endFar();
    return LatencyReport.of(setting, gets, lookUps, borrowed(progress));
  }

  private @Nullable Borrowed borrowed(BenchProgress progress) {
    if (setting.transport() != BenchTransport.SHARED) {
      return null;
    }
    progress.next("blocks where they lie");
    try (Load ours = near.borrowed(BORROWED_BYTES, BORROWED_LAYERS);
        Load copy = new MemoryCopyLoad(setting.sourceBytes(), COPIED_BYTES)) {
      List<List<Turn>> turns = turns(List.of(ours, copy), progress);
      int granule = new BenchBlocks(BORROWED_BYTES, BORROWED_LAYERS).space().layout().granuleBytes(0);
      return Borrowed.of(BORROWED_BYTES, granule, turns.getFirst(), COPIED_BYTES, turns.getLast());
    }
  }

  private Get get(int blockBytes, BenchProgress progress) {
    try (Load ours = near.blocks(blockBytes, 1, Direction.GET);
        Load plain = near.plain(blockBytes, 1, false);
        Load awake = near.plain(blockBytes, 1, true)) {
      List<Load> loads = bare == null ? List.of(ours, plain, awake) : List.of(ours, plain, awake, bare);
      List<List<Turn>> turns = turns(loads, progress);
      return Get.of(blockBytes, turns.getFirst(), turns.get(1), turns.get(2), bare == null ? null : turns.getLast());
    }
  }

  private LookUps lookUps(int underWay, int batch, BenchProgress progress) {
    try (Load single = near.lookUps(1, underWay);
        Load plain = near.plain(0, underWay, false);
        Load batched = near.lookUps(batch, underWay)) {
      List<List<Turn>> turns = turns(List.of(single, plain, batched), progress);
      return LookUps.of(underWay, batch, turns.getFirst(), turns.get(1), turns.getLast());
    }
  }

  private List<List<Turn>> turns(List<Load> loads, BenchProgress progress) {
    Turns turns = new Turns(near, setting, progress);
    turns.warmUp(loads);
    return turns.of(loads);
  }
}
