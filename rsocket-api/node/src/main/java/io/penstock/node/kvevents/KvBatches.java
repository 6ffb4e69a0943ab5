package io.penstock.node.kvevents;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import org.jspecify.annotations.Nullable;

/// The newest batches, numbered from 0, for consumers that missed some. Any thread.
final class KvBatches {
  @GuardedBy("this") private final byte[][] ring;
  @GuardedBy("this") private long next;

  KvBatches(int steps) {
    ring = new byte[Checks.positive("steps", steps)][];
  }

  /// Keeps `payload`.
  ///
  /// @return its number
  synchronized long add(byte[] payload) {
    ring[slot(next)] = payload;
    return next++;
  }

  /// Number of the oldest batch kept.
  synchronized long first() {
    return Math.max(0, next - ring.length);
  }

  /// Number of the next batch.
  synchronized long next() {
    return next;
  }

  /// The batch of number `sequence`; null if it is not kept.
  synchronized byte @Nullable [] get(long sequence) {
    return sequence < first() || sequence >= next ? null : ring[slot(sequence)];
  }

  @GuardedBy("this") private int slot(long sequence) {
    return (int) (sequence % ring.length);
  }
}
