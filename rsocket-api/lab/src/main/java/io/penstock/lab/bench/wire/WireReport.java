package io.penstock.lab.bench.wire;

import io.penstock.PenstockVersion;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.BenchNames;
import io.penstock.lab.bench.side.Direction;
import io.penstock.lab.bench.side.MemoryKind;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.side.Turns;
import io.penstock.lab.bench.side.Turns.Turn;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What `bench wire` found: medians of the rounds.
///
/// @param penstock version
/// @param transport of the sockets
/// @param congestion control of the sockets
/// @param direction of the bytes
/// @param memory that they come from and go to
/// @param threads requests under way at a time
/// @param connections over which they were spread
/// @param seconds of each load in each round
/// @param warmUpSeconds before the first round of each row
/// @param rounds in which the loads took turns
/// @param verified whether each byte was compared with what was made, beside its checksum
/// @param rows by block size and batch
record WireReport(String penstock, String transport, String congestion, String direction, String memory, int threads,
    int connections, double seconds, double warmUpSeconds, int rounds, boolean verified,
    List<Row> rows) implements Bench.Report {
  /// @param blockBytes bytes of a block
  /// @param batch blocks of a request
  /// @param gigabytesPerSecond 10⁹ bytes of blocks a second
  /// @param carriedBy what carried the bytes of blocks, and the transport of their frames
  /// @param averageMicros of a request
  /// @param p50Micros of a request
  /// @param p99Micros of a request
  /// @param p999Micros of a request
  /// @param nearCpuSecondsPerGigabyte CPU time of this side
  /// @param farCpuSecondsPerGigabyte CPU time of the other side
  /// @param raw the same payloads over a plain Netty channel
  /// @param copy copy and CRC32C of blocks in one thread
  /// @param tcp the same blocks over TCP, beside a transport of this host
  /// @param peer another program, if one was measured
  record Row(int blockBytes, int batch, double gigabytesPerSecond, List<String> carriedBy, double averageMicros,
      double p50Micros, double p99Micros, double p999Micros, double nearCpuSecondsPerGigabyte,
      double farCpuSecondsPerGigabyte,
      Raw raw, Copy copy, @Nullable Other tcp, @Nullable Other peer) {
    /// @param turns of our load
    static Row of(int blockBytes, int batch, List<String> carriedBy, List<Turn> turns, Raw raw, Copy copy,
        @Nullable Other tcp, @Nullable Other peer) {
      return new Row(blockBytes, batch, Turns.median(turns, Turn::perSecond) / 1e9, carriedBy,
          Turns.median(turns, Turn::averageMicros), Turns.median(turns, turn -> turn.micros(50)),
          Turns.median(turns, turn -> turn.micros(99)), Turns.median(turns, turn -> turn.micros(99.9)),
          Turns.median(turns, Turn::nearCpuNanos), Turns.median(turns, Turn::farCpuNanos), raw, copy, tcp, peer);
    }

    double cpuSecondsPerGigabyte() {
      return nearCpuSecondsPerGigabyte + farCpuSecondsPerGigabyte;
    }
  }

  /// @param payloadBytes of a write
  /// @param ratio of our rate to this one, in the same round
  /// @param cpuRatio of our CPU time a byte to this one, in the same round, both sides together
  record Raw(int payloadBytes, double gigabytesPerSecond, double cpuSecondsPerGigabyte, double ratio,
      double cpuRatio) {
    static Raw of(int payloadBytes, List<Turn> ours, List<Turn> turns) {
      return new Raw(payloadBytes, Turns.median(turns, Turn::perSecond) / 1e9, Turns.median(turns, Turn::cpuNanos),
          Turns.ratio(ours, turns, Turn::perSecond), Turns.ratio(ours, turns, Turn::cpuNanos));
    }
  }

  /// @param ratio of our rate to this one, in the same round
  record Copy(double gigabytesPerSecond, double ratio) {
    static Copy of(List<Turn> ours, List<Turn> turns) {
      return new Copy(Turns.median(turns, Turn::perSecond) / 1e9, Turns.ratio(ours, turns, Turn::perSecond));
    }
  }

  /// @param name of the other program, or transport
  /// @param cpuSecondsPerGigabyte of both its sides
  /// @param ratio of our rate to its, in the same round
  /// @param cpuRatio of our CPU time a byte to its, in the same round, both sides together
  record Other(String name, double gigabytesPerSecond, double cpuSecondsPerGigabyte, double ratio, double cpuRatio) {
    static Other of(String name, List<Turn> ours, List<Turn> turns) {
      return new Other(name, Turns.median(turns, Turn::perSecond) / 1e9, Turns.median(turns, Turn::cpuNanos),
          Turns.ratio(ours, turns, Turn::perSecond), Turns.ratio(ours, turns, Turn::cpuNanos));
    }
  }

  static WireReport of(SideSetting setting, Direction direction, MemoryKind memory, List<Row> rows) {
    return new WireReport(PenstockVersion.current(), BenchNames.of(setting.transport()),
        BenchNames.of(setting.congestion()), BenchNames.of(direction), BenchNames.of(memory), setting.threads(),
        setting.connections(), setting.time().toNanos() / 1e9, setting.warmUp().toNanos() / 1e9, setting.rounds(),
        setting.verify(), rows);
  }

  @Override
  public String table() {
    return WireTable.of(this);
  }
}
