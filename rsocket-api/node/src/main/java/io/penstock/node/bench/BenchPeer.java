package io.penstock.node.bench;

/// Another store that is measured beside ours.
enum BenchPeer {
  NONE, REDIS
}
