package io.penstock.lab.bench.disk;

import io.penstock.KvException;
import io.penstock.storage.JournalStore;
import org.jspecify.annotations.Nullable;

/// Overwrites blocks at a fixed rate.
final class PacedPuts implements AutoCloseable {
  private final Thread thread;
  private volatile boolean ended;
  private volatile @Nullable Throwable failure;

  PacedPuts(LiveBlocks blocks, JournalStore store, double perSecond) {
    this.thread = Thread.ofPlatform().name("bench-puts").start(() -> run(blocks, store, perSecond));
  }

  private void run(LiveBlocks blocks, JournalStore store, double perSecond) {
    FixedRate rate = new FixedRate(perSecond);
    try {
      while (!ended) {
        rate.next();
        blocks.overwrite(store);
      }
    } catch (RuntimeException e) {
      failure = e;
    }
  }

  /// @throws IllegalStateException if a put failed
  @Override
  public void close() {
    ended = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException("a benchmark must not be interrupted", e);
    }
    if (failure instanceof KvException refused) {
      throw refused;
    }
    if (failure != null) {
      throw new IllegalStateException("a put failed", failure);
    }
  }
}
