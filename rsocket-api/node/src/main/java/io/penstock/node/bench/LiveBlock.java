package io.penstock.node.bench;

import io.penstock.tier.spi.StoredBlock;

/// A block at rest that may be overwritten while it is read: its rest is closed behind the last reader.
final class LiveBlock {
  private final StoredBlock rest;
  /// Guarded by `this`.
  private int holds = 1;

  LiveBlock(StoredBlock rest) {
    this.rest = rest;
  }

  StoredBlock rest() {
    return rest;
  }

  /// Keeps the rest open; false if it is closed.
  synchronized boolean retain() {
    holds += holds == 0 ? 0 : 1;
    return holds > 0;
  }

  void release() {
    boolean last;
    synchronized (this) {
      last = --holds == 0;
    }
    if (last) {
      rest.close();
    }
  }
}
