package io.penstock.lab.bench.wire;

import io.penstock.PenstockVersion;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.BenchNames;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.side.Turns;
import io.penstock.lab.bench.side.Turns.Turn;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Result of `bench latency`: medians of the rounds.
///
/// @param penstock version
/// @param transport of the sockets
/// @param congestion control of the sockets
/// @param seconds of each load in each round
/// @param warmUpSeconds before the first round of each row
/// @param rounds in which the loads took turns
/// @param gets one at a time, by block size
/// @param lookUps of keys
/// @param borrowed a block that is read in place, over shared memory; else null
record LatencyReport(String penstock, String transport, String congestion, double seconds, double warmUpSeconds,
    int rounds, List<Get> gets, LookUps lookUps, @Nullable Borrowed borrowed) implements Bench.Report {
  /// @param averageMicros of a request
  /// @param p50Micros of a request
  /// @param p99Micros of a request
  /// @param p999Micros of a request
  /// @param nearCpuMicros CPU time of this side for a request
  /// @param farCpuMicros CPU time of the other side for a request
  record Times(double averageMicros, double p50Micros, double p99Micros, double p999Micros, double nearCpuMicros,
      double farCpuMicros) {
    /// @param unitsOfRequest of the load
    static Times of(List<Turn> turns, double unitsOfRequest) {
      return new Times(Turns.median(turns, Turn::averageMicros), Turns.median(turns, turn -> turn.micros(50)),
          Turns.median(turns, turn -> turn.micros(99)), Turns.median(turns, turn -> turn.micros(99.9)),
          Turns.median(turns, Turn::nearCpuNanos) * unitsOfRequest / 1e3,
          Turns.median(turns, Turn::farCpuNanos) * unitsOfRequest / 1e3);
    }
  }

  /// @param ours a get of one block
  /// @param plain an RSocket request/response whose answer has as many bytes, on threads that sleep in between
  /// @param p50Ratio of ours to the plain one, in the same round
  /// @param cpuRatio ratio of the CPU time of both sides
  /// @param awake the same request on threads that stay awake between two requests, as those of a node do
  /// @param awakeP50Ratio of ours to that
  /// @param awakeCpuRatio ratio of the CPU time of both sides
  /// @param roundTrip 64 bytes there and back over a bare Unix domain socket in C, with shared memory; else null
  record Get(int blockBytes, Times ours, Times plain, double p50Ratio, double cpuRatio, Times awake,
      double awakeP50Ratio, double awakeCpuRatio, @Nullable RoundTrip roundTrip) {
    static Get of(int blockBytes, List<Turn> ours, List<Turn> plain, List<Turn> awake, @Nullable List<Turn> bare) {
      return new Get(blockBytes, Times.of(ours, blockBytes), Times.of(plain, 1),
          Turns.ratio(ours, plain, turn -> turn.micros(50)), Turns.ratio(ours, plain, Turn::cpuNanos) * blockBytes,
          Times.of(awake, 1), Turns.ratio(ours, awake, turn -> turn.micros(50)),
          Turns.ratio(ours, awake, Turn::cpuNanos) * blockBytes,
          bare == null ? null : RoundTrip.of(ours, bare));
    }
  }

  /// @param p50Ratio of a get of ours to it, in the same round
  record RoundTrip(double p50Micros, double p99Micros, double p50Ratio) {
    static RoundTrip of(List<Turn> ours, List<Turn> bare) {
      return new RoundTrip(Turns.median(bare, turn -> turn.micros(50)), Turns.median(bare, turn -> turn.micros(99)),
          Turns.ratio(ours, bare, turn -> turn.micros(50)));
    }
  }

  /// @param granuleBytes that are verified and read of each block
  /// @param times of a block
  /// @param copyBytes of a copy in memory, which no cache holds, as those of blocks
  /// @param copyP50Micros of that copy
  /// @param p50Ratio of a block to that copy, in the same round
  record Borrowed(int blockBytes, int granuleBytes, Times times, int copyBytes, double copyP50Micros,
      double p50Ratio) {
    static Borrowed of(int blockBytes, int granuleBytes, List<Turn> turns, int copyBytes, List<Turn> copies) {
      return new Borrowed(blockBytes, granuleBytes, Times.of(turns, 1), copyBytes,
          Turns.median(copies, turn -> turn.micros(50)), Turns.ratio(turns, copies, turn -> turn.micros(50)));
    }
  }

  /// @param underWay requests at a time
  /// @param perSecond look-ups of one key
  /// @param plainPerSecond empty RSocket requests/responses
  /// @param ratio of ours to the plain ones, in the same round
  /// @param batch keys of a batched look-up
  /// @param batchedPerSecond keys looked up by batches
  /// @param batchedRatio of the batched to the single ones, in the same round
  record LookUps(int underWay, double perSecond, double plainPerSecond, double ratio, int batch,
      double batchedPerSecond, double batchedRatio) {
    static LookUps of(int underWay, int batch, List<Turn> single, List<Turn> plain, List<Turn> batched) {
      return new LookUps(underWay, Turns.median(single, Turn::perSecond), Turns.median(plain, Turn::perSecond),
          Turns.ratio(single, plain, Turn::perSecond), batch, Turns.median(batched, Turn::perSecond),
          Turns.ratio(batched, single, Turn::perSecond));
    }
  }

  static LatencyReport of(SideSetting setting, List<Get> gets, LookUps lookUps, @Nullable Borrowed borrowed) {
    return new LatencyReport(PenstockVersion.current(), BenchNames.of(setting.transport()),
        BenchNames.of(setting.congestion()), setting.time().toNanos() / 1e9, setting.warmUp().toNanos() / 1e9,
        setting.rounds(), gets, lookUps, borrowed);
  }

  @Override
  public String table() {
    return LatencyTable.of(this);
  }
}
