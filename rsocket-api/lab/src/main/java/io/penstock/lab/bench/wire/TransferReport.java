package io.penstock.lab.bench.wire;

import io.penstock.PenstockVersion;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.BenchNames;
import io.penstock.lab.bench.side.MemoryKind;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.side.TransferDirection;
import io.penstock.lab.bench.side.Turns;
import io.penstock.lab.bench.side.Turns.Turn;
import java.util.List;

/// What `bench transfer` found: medians of the rounds.
///
/// @param penstock version
/// @param transport of the connections
/// @param congestion control of the sockets
/// @param direction of the bytes
/// @param memory that they come from and go to
/// @param threads batches under way at a time
/// @param connections over which they were spread
/// @param seconds of each load in each round
/// @param warmUpSeconds before the first round of each row
/// @param rounds in which the loads took turns
/// @param verified whether each byte was compared with what was made, beside its checksum
/// @param rows by block size and batch
record TransferReport(String penstock, String transport, String congestion, String direction, String memory,
    int threads, int connections, double seconds, double warmUpSeconds, int rounds, boolean verified,
    List<Row> rows) implements Bench.Report {
  /// @param blockBytes bytes of an item
  /// @param batch items submitted together
  /// @param carriedBy what carried the bytes, and the transport of its frames
  /// @param gigabytesPerSecond 10⁹ bytes of items a second
  /// @param averageMicros of a batch
  /// @param p50Micros of a batch
  /// @param p99Micros of a batch
  /// @param p999Micros of a batch
  /// @param nearCpuSecondsPerGigabyte CPU time of this side; of both sides within one process
  /// @param farCpuSecondsPerGigabyte CPU time of the other side
  /// @param raw the same bytes over plain Netty channels
  record Row(int blockBytes, int batch, List<String> carriedBy, double gigabytesPerSecond, double averageMicros,
      double p50Micros, double p99Micros, double p999Micros, double nearCpuSecondsPerGigabyte,
      double farCpuSecondsPerGigabyte, WireReport.Raw raw) {
    static Row of(int blockBytes, int batch, List<String> carriedBy, List<Turn> turns, WireReport.Raw raw) {
      return new Row(blockBytes, batch, carriedBy, Turns.median(turns, Turn::perSecond) / 1e9,
          Turns.median(turns, Turn::averageMicros), Turns.median(turns, turn -> turn.micros(50)),
          Turns.median(turns, turn -> turn.micros(99)), Turns.median(turns, turn -> turn.micros(99.9)),
          Turns.median(turns, Turn::nearCpuNanos), Turns.median(turns, Turn::farCpuNanos), raw);
    }
  }

  static TransferReport of(SideSetting setting, TransferDirection direction, MemoryKind memory, List<Row> rows) {
    return new TransferReport(PenstockVersion.current(), BenchNames.of(setting.transport()),
        BenchNames.of(setting.congestion()), BenchNames.of(direction), BenchNames.of(memory), setting.threads(),
        setting.connections(), setting.time().toNanos() / 1e9, setting.warmUp().toNanos() / 1e9, setting.rounds(),
        setting.verify(), rows);
  }

  @Override
  public String table() {
    return TransferTable.of(this);
  }
}
