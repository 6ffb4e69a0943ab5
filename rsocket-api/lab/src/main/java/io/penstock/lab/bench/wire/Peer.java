package io.penstock.lab.bench.wire;

import io.penstock.lab.bench.side.Load;
import io.penstock.lab.bench.side.SideSetting;

/// A program of this machine that moves as many bytes.
interface Peer extends AutoCloseable {
  /// Its name, for tables.
  String label();

  /// Requests of `batch` blocks; the units are bytes.
  Load load(int blockBytes, int batch, SideSetting setting);

  @Override
  void close();
}
