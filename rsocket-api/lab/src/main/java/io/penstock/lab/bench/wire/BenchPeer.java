package io.penstock.lab.bench.wire;

/// Another store that is measured beside ours.
enum BenchPeer {
  NONE, REDIS
}
