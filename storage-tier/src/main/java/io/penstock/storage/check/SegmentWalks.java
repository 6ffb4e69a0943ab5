package io.penstock.storage.check;

import io.penstock.storage.engine.JournalFiles;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// Walks segments ahead of whoever takes them in order, two at a time: one processor takes half as long again to read and compare bytes as
/// to read them. One thread takes.
final class SegmentWalks implements AutoCloseable {
  private static final int LANES = Math.min(2, Runtime.getRuntime().availableProcessors());
  private static final int MOST_BEGUN = 2 * LANES;

  private final Walk walk;
  private final Iterator<JournalFiles.Stored> segments;
  private final ExecutorService lanes = Executors.newFixedThreadPool(LANES, Thread.ofPlatform().daemon().name("journal-check-", 0).factory());
  private final ArrayDeque<Begun> begun = new ArrayDeque<>();

  /// One segment, from its beginning to its end.
  @FunctionalInterface
  interface Walk {
    /// @param before the highest sequence of earlier segments
    SegmentTally of(JournalFiles.Stored segment, long before);
  }

  private record Begun(JournalFiles.Stored segment, Future<SegmentTally> walk) {}

  SegmentWalks(List<JournalFiles.Stored> segments, Walk walk) {
    this.walk = walk;
    this.segments = segments.iterator();
  }

  /// What was found in the next segment.
  ///
  /// It was walked as if it were the first of the journal. That matters only if its first record is not newer than all before, which is of an
  /// earlier life of the file then: such a segment is walked again.
  SegmentTally next(long before) {
    while (segments.hasNext() && begun.size() < MOST_BEGUN) {
      JournalFiles.Stored segment = segments.next();
      begun.add(new Begun(segment, lanes.submit(() -> walk.of(segment, 0))));
    }
    Begun next = begun.remove();
    SegmentTally tally = found(next.walk());
    return tally.holdsAfter(before) ? tally : walk.of(next.segment(), before);
  }

  private static SegmentTally found(Future<SegmentTally> walk) {
    try {
      return walk.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("a check must not be interrupted", e);
    }
  }

  /// Ends those that nobody took.
  @Override
  public void close() {
    lanes.shutdownNow();
    lanes.close();
  }
}
