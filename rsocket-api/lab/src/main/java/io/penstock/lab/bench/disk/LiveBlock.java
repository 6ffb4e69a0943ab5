package io.penstock.lab.bench.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.tier.spi.StoredBlock;

/// A stored block that may be overwritten while it is read: the last reader closes it.
final class LiveBlock {
  private final StoredBlock stored;
  @GuardedBy("this") private int holds = 1;

  LiveBlock(StoredBlock stored) {
    this.stored = stored;
  }

  StoredBlock stored() {
    return stored;
  }

  /// Keeps the stored block open; false if it is closed.
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
      stored.close();
    }
  }
}
