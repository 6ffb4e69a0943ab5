package io.penstock.lab.bench.disk;

import io.penstock.storage.DiskUse;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/// Observations of each second of a run. One thread.
final class ReclaimSeries {
  final List<Double> seconds = new ArrayList<>();
  final List<@Nullable Double> p50Micros = new ArrayList<>();
  final List<@Nullable Double> p99Micros = new ArrayList<>();
  final List<@Nullable Double> putMibPerSecond = new ArrayList<>();
  final List<@Nullable Double> movedMibPerSecond = new ArrayList<>();
  /// Null while nothing was put.
  final List<@Nullable Double> amplification = new ArrayList<>();
  private static final double MIB = 1 << 20;

  private long start = System.nanoTime();

  /// Starts counting seconds.
  void start() {
    start = System.nanoTime();
  }

  /// @param since when the phase began
  /// @param width seconds that `reads` came in
  void point(Histogram reads, DiskUse before, DiskUse now, DiskUse since, double width) {
    seconds.add((System.nanoTime() - start) / 1e9);
    p50Micros.add(reads.getValueAtPercentile(50) / 1e3);
    p99Micros.add(reads.getValueAtPercentile(99) / 1e3);
    putMibPerSecond.add((now.userBytes() - before.userBytes()) / MIB / width);
    movedMibPerSecond.add((now.movedBytes() - before.movedBytes()) / MIB / width);
    long put = now.userBytes() - since.userBytes();
    amplification.add(put == 0 ? null : 1 + (double) (now.movedBytes() - since.movedBytes()) / put);
  }
}
