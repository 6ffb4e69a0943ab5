package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// One read of a batch of blocks, cut into parts that threads do at the same time.
///
/// After a failure no block behind the failed one is begun; the job ends when all parts have, with the failure of the
/// first block. One that is refused ends when those parts have that were begun.
final class ReadJob {
  /// A hop to another thread is worth this many bytes.
  private static final int PART_BYTES = 1 << 20;

  /// Most parts of one job: what a line of jobs puts into the threads' queue is bounded by it.
  static final int MOST_PARTS = 16;

  private final RangeReader reader;
  private final List<StoredRecord> storedBlocks;
  private final List<BlockDraft> drafts;
  private final GranuleRange range;
  private final int partBlocks;
  private final Ended ended;
  private final int parts;
  @GuardedBy("this") private int partsLeft;
  @GuardedBy("this") private int running;
  @GuardedBy("this") private int done;
  @GuardedBy("this") private boolean over;
  @GuardedBy("this") private int failedAt = Integer.MAX_VALUE;
  @GuardedBy("this") private @Nullable Throwable failure;

  /// Hears of the end, once.
  @FunctionalInterface
  interface Ended {
    /// @param failure null if every byte is there
    void ended(@Nullable Throwable failure);
  }

  ReadJob(RangeReader reader, List<StoredRecord> storedBlocks, List<BlockDraft> drafts, GranuleRange range,
      int blockBytes,
      Ended ended) {
    this.reader = reader;
    this.storedBlocks = storedBlocks;
    this.drafts = drafts;
    this.range = range;
    this.ended = ended;
    int worth = Math.max(1, PART_BYTES / blockBytes);
    this.partBlocks = Math.max(worth, (storedBlocks.size() + MOST_PARTS - 1) / MOST_PARTS);
    this.parts = (storedBlocks.size() + partBlocks - 1) / partBlocks;
    this.partsLeft = parts;
  }

  /// @param left runs when no thread has to do with it any more, which may be after the end
  void start(Executor threads, Runnable left) {
    for (int first = 0; first < storedBlocks.size(); first += partBlocks) {
      int from = first;
      threads.execute(() -> {
        try {
          if (begin()) {
            readPart(from);
          }
        } finally {
          partEnded(left);
        }
      });
    }
  }

  private synchronized boolean begin() {
    running += over ? 0 : 1;
    return !over;
  }

  private void readPart(int from) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment scratch = reader.scratch(arena);
      int to = Math.min(from + partBlocks, storedBlocks.size());
      for (int i = from; i < to && i < failedAt(); i++) {
        read(i, scratch);
      }
    } finally {
      readEnded();
    }
  }

  private void read(int i, MemorySegment scratch) {
    try {
      reader.read(storedBlocks.get(i), drafts.get(i), range, scratch);
    } catch (Throwable e) { // the caller must hear of it, whatever it is
      failed(i, e);
    }
  }

  private synchronized int failedAt() {
    return failedAt;
  }

  private synchronized void failed(int at, Throwable e) {
    if (at < failedAt) {
      failedAt = at;
      failure = e;
    }
  }

  /// Begins nothing more, and ends as soon as nothing writes to the drafts. Any thread.
  void refuse(Throwable why) {
    synchronized (this) {
      if (over) {
        return;
      }
      failedAt = -1;
      failure = failure == null ? why : failure;
      over = running == 0;
      if (!over) {
        return;
      }
    }
    ended.ended(why);
  }

  private void readEnded() {
    Throwable why;
    synchronized (this) {
      running--;
      done++;
      boolean refused = failedAt < 0;
      if (running > 0 || (!refused && done < parts)) {
        return;
      }
      over = true;
      why = failure;
    }
    ended.ended(why);
  }

  private void partEnded(Runnable left) {
    synchronized (this) {
      partsLeft--;
      if (partsLeft > 0) {
        return;
      }
    }
    left.run();
  }
}
