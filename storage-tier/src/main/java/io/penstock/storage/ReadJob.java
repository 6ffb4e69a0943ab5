package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;

/// One read of a batch of blocks, cut into parts that threads do at the same time.
///
/// After a failure the job begins no block behind the failed one. It ends after all parts, with the failure of the
/// first block. A refused job begins nothing more, and ends when no part runs.
final class ReadJob {
  /// A hop to another thread is worth this many bytes.
  private static final int PART_BYTES = 1 << 20;

  /// Maximum number of parts of one job: this bounds the threads' queue.
  static final int MOST_PARTS = 16;

  private final RangeReader reader;
  private final List<StoredRecord> storedBlocks;
  private final List<BlockDraft> drafts;
  private final GranuleRange range;
  private final int partBlocks;
  private final MonoSink<Void> sink;
  @GuardedBy("this") private int partsLeft;
  @GuardedBy("this") private int running;
  @GuardedBy("this") private boolean over;
  /// The first block that failed; -1 if the job is refused.
  @GuardedBy("this") private int failedAt = Integer.MAX_VALUE;
  @GuardedBy("this") private @Nullable Throwable failure;

  ReadJob(RangeReader reader, List<StoredRecord> storedBlocks, List<BlockDraft> drafts, GranuleRange range,
      int blockBytes, MonoSink<Void> sink) {
    this.reader = reader;
    this.storedBlocks = storedBlocks;
    this.drafts = drafts;
    this.range = range;
    this.sink = sink;
    int worth = Math.max(1, PART_BYTES / blockBytes);
    this.partBlocks = Math.max(worth, Math.ceilDiv(storedBlocks.size(), MOST_PARTS));
    this.partsLeft = Math.ceilDiv(storedBlocks.size(), partBlocks);
  }

  /// @param left runs after the last task of this job, which may be after the end
  void start(Executor threads, Runnable left) {
    for (int first = 0; first < storedBlocks.size(); first += partBlocks) {
      int from = first;
      threads.execute(() -> run(from, left));
    }
  }

  private void run(int from, Runnable left) {
    boolean begun = begin();
    try {
      if (begun) {
        readPart(from);
      }
    } finally {
      partEnded(begun, left);
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
    }
  }

  private void read(int i, MemorySegment scratch) {
    try {
      reader.read(storedBlocks.get(i), drafts.get(i), range, scratch);
    } catch (Throwable e) { // the caller must hear of any failure
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
    sink.error(why);
  }

  private void partEnded(boolean begun, Runnable left) {
    boolean isLast;
    boolean ends;
    Throwable why;
    synchronized (this) {
      running -= begun ? 1 : 0;
      partsLeft--;
      isLast = partsLeft == 0;
      ends = begun && running == 0 && (isLast || failedAt < 0);
      over |= ends;
      why = failure;
    }
    if (ends) {
      end(why);
    }
    if (isLast) {
      left.run();
    }
  }

  private void end(@Nullable Throwable why) {
    if (why == null) {
      sink.success();
    } else {
      sink.error(why);
    }
  }
}
