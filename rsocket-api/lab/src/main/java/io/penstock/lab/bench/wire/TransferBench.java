package io.penstock.lab.bench.wire;

import io.penstock.lab.bench.side.BenchProgress;
import io.penstock.lab.bench.side.Load;
import io.penstock.lab.bench.side.MemoryKind;
import io.penstock.lab.bench.side.NearSide;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.side.TransferDirection;
import io.penstock.lab.bench.side.TransferLoad;
import io.penstock.lab.bench.side.Turns;
import io.penstock.lab.bench.side.WireShape;
import java.util.ArrayList;
import java.util.List;

/// Measures the rate at which a transfer engine reads and writes segments of another process. Plain Netty channels that
/// carry as many bytes a write take turns with it.
final class TransferBench {
  /// Segments of ours and the Netty channel.
  static final int LOADS = 2;

  private final SideSetting setting;
  private final TransferDirection direction;
  private final MemoryKind memory;
  private final NearSide near;

  TransferBench(SideSetting setting, TransferDirection direction, MemoryKind memory, NearSide near) {
    this.setting = setting;
    this.direction = direction;
    this.memory = memory;
    this.near = near;
  }

  /// A row for each block size and batch.
  ///
  /// @param batches items of a batch; empty for one that fits the block size
  List<TransferReport.Row> run(List<Integer> blockSizes, List<Integer> batches, BenchProgress progress) {
    List<TransferReport.Row> rows = new ArrayList<>();
    for (int blockBytes : blockSizes) {
      for (int batch : batches.isEmpty() ? List.of(WireBench.batch(blockBytes)) : batches) {
        progress.next(blockBytes + " B, batch " + batch);
        rows.add(row(blockBytes, batch, progress));
        near.endFar();
      }
    }
    return rows;
  }

  private TransferReport.Row row(int blockBytes, int batch, BenchProgress progress) {
    int payload = (int) Math.min(WireShape.SLICE_BYTES, (long) blockBytes * batch);
    try (TransferLoad ours = near.transfers(blockBytes, batch, direction, memory);
        Load raw = near.raw(payload, direction != TransferDirection.WRITE, direction != TransferDirection.READ)) {
      List<Load> loads = List.of(ours, raw);
      Turns turns = new Turns(near, setting, progress);
      turns.warmUp(loads);
      List<List<Turns.Turn>> all = turns.of(loads);
      return TransferReport.Row.of(blockBytes, batch, ours.carriedBy(), all.getFirst(),
          WireReport.Raw.of(payload, all.getFirst(), all.getLast()));
    }
  }
}
