package io.penstock.lab.bench.disk;

import io.penstock.KvException;
import io.penstock.storage.JournalStore;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;

/// Reads random blocks at a fixed rate, however long a read takes: a read's time counts from the moment it was
/// due.
final class PacedReads implements AutoCloseable {
  /// Maximum number of reads in flight; a further one waits, and its waiting time counts.
  static final int MOST = 64;

  private final LiveBlocks blocks;
  private final JournalStore store;
  private final Recorder nanos;
  private final Semaphore room = new Semaphore(MOST);
  private final Thread thread;
  private volatile boolean ended;
  private volatile @Nullable Throwable failure;

  PacedReads(LiveBlocks blocks, JournalStore store, int perSecond, long seed, Recorder nanos) {
    this.blocks = blocks;
    this.store = store;
    this.nanos = nanos;
    this.thread = Thread.ofPlatform().name("bench-reads").start(() -> run(perSecond, new SplittableRandom(seed)));
  }

  private void run(int perSecond, SplittableRandom random) {
    FixedRate rate = new FixedRate(perSecond);
    while (!ended) {
      long due = rate.next();
      room.acquireUninterruptibly();
      blocks.read(store, random.nextInt(blocks.count())).doFinally(end -> room.release())
          .subscribe(nothing -> {}, e -> failure = e, () -> nanos.recordValue(System.nanoTime() - due));
    }
  }

  /// Waits until the last read has ended.
  ///
  /// @throws IllegalStateException if one failed
  @Override
  public void close() {
    ended = true;
    try {
      thread.join();
      if (!room.tryAcquire(MOST, 1, TimeUnit.MINUTES)) {
        throw new IllegalStateException("reads did not end within a minute");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("a benchmark must not be interrupted", e);
    }
    if (failure instanceof KvException refused) {
      throw refused;
    }
    if (failure != null) {
      throw new IllegalStateException("a read failed", failure);
    }
  }
}
