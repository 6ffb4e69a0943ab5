package io.penstock.lab.bench.wire;

import io.penstock.lab.bench.side.BenchProgress;
import io.penstock.lab.bench.side.BenchTransport;
import io.penstock.lab.bench.side.Direction;
import io.penstock.lab.bench.side.Load;
import io.penstock.lab.bench.side.NearSide;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.side.Turns;
import io.penstock.lab.bench.side.Turns.Turn;
import io.penstock.lab.bench.side.WireShape;
import io.penstock.lab.bench.wire.WireReport.Copy;
import io.penstock.lab.bench.wire.WireReport.Other;
import io.penstock.lab.bench.wire.WireReport.Raw;
import io.penstock.lab.bench.wire.WireReport.Row;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Measures the rate at which blocks go from one process to another. A plain Netty channel that sends equal payloads,
/// and a copy with its checksum in one thread, take turns with it.
final class WireBench {
  /// Minimum bytes of a request for small blocks.
  private static final int BATCH_BYTES = 1 << 20;
  private static final int MOST_BATCH = 256;
  /// Blocks of ours, the Netty channel, the copy.
  private static final int OWN_LOADS = 3;

  private final SideSetting setting;
  private final Direction direction;
  private final NearSide near;
  private final @Nullable Peer beside;

  /// @param beside another program that is measured, too; null for none
  WireBench(SideSetting setting, Direction direction, NearSide near, @Nullable Peer beside) {
    this.setting = setting;
    this.direction = direction;
    this.near = near;
    this.beside = beside;
  }

  /// The batch for blocks without one of their own.
  static int batch(int blockBytes) {
    return Math.clamp(BATCH_BYTES / blockBytes, 1, MOST_BATCH);
  }

  /// A row for each block size and batch.
  ///
  /// @param batches blocks of a request; empty for one that fits the block size
  List<Row> run(List<Integer> blockSizes, List<Integer> batches, BenchProgress progress) {
    List<Row> rows = new ArrayList<>();
    for (int blockBytes : blockSizes) {
      for (int batch : batches.isEmpty() ? List.of(batch(blockBytes)) : batches) {
        progress.next(blockBytes + " B, batch " + batch);
        rows.add(row(blockBytes, batch, progress));
        near.endFar();
      }
    }
    return rows;
  }

  /// Number of loads of a row.
  ///
  /// @param hasPeer whether another store is measured, too
  static int loads(SideSetting setting, boolean hasPeer) {
    return OWN_LOADS + (besideTcp(setting) ? 1 : 0) + (hasPeer ? 1 : 0);
  }

  /// Whether equal blocks go over TCP by turns.
  private static boolean besideTcp(SideSetting setting) {
    return setting.transport() == BenchTransport.UDS || setting.transport() == BenchTransport.SHARED;
  }

  private Row row(int blockBytes, int batch, BenchProgress progress) {
    int payload = (int) Math.min(WireShape.SLICE_BYTES, (long) blockBytes * batch);
    try (Load ours = near.blocks(blockBytes, batch, direction);
        Load raw = near.raw(payload, direction == Direction.GET, direction == Direction.PUT);
        Load copy = new CopyLoad(setting.sourceBytes(), blockBytes);
        Load tcp = besideTcp(setting) ? near.blocks(BenchTransport.TCP, blockBytes, batch, direction) : null;
        Load peer = beside == null ? null : beside.load(blockBytes, batch, setting)) {
      List<Load> loads = new ArrayList<>(List.of(ours, raw, copy));
      if (tcp != null) {
        loads.add(tcp);
      }
      if (peer != null) {
        loads.add(peer);
      }
      Turns turns = new Turns(near, setting, progress);
      turns.warmUp(loads);
      List<List<Turn>> all = turns.of(loads);
      return Row.of(blockBytes, batch, ours.carriedBy(), all.getFirst(), Raw.of(payload, all.getFirst(), all.get(1)),
          Copy.of(all.getFirst(), all.get(2)),
          tcp == null ? null : Other.of("tcp", all.getFirst(), all.get(3)),
          beside == null ? null : Other.of(beside.label(), all.getFirst(), all.getLast()));
    }
  }
}
