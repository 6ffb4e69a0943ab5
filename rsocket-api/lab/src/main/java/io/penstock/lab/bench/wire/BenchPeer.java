package io.penstock.lab.bench.wire;

/// Another store to compare with.
enum BenchPeer {
  NONE, REDIS
}
