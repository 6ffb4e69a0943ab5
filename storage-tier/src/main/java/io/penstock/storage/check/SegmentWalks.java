package io.penstock.storage.check;

import io.penstock.storage.check.SegmentWalk.Part;
import io.penstock.storage.engine.JournalFiles;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// Walks segments ahead of whoever takes them in order, each in two parts, two parts at a time: one processor takes
/// half as long again to read and compare bytes as to read them. One thread takes.
final class SegmentWalks implements AutoCloseable {
  private static final int LANES = Math.min(2, Runtime.getRuntime().availableProcessors());
  private static final int MOST_BEGUN = 2 * LANES;

  private final Walk walk;
  private final ToLongFunction<JournalFiles.Stored> middle;
  private final Iterator<JournalFiles.Stored> segments;
  private final ExecutorService lanes =
      Executors.newFixedThreadPool(LANES, Thread.ofPlatform().daemon().name("journal-check-", 0).factory());
  private final ArrayDeque<Begun> begun = new ArrayDeque<>();

  /// A part of a segment, from its beginning to its end.
  @FunctionalInterface
  interface Walk {
    /// @param before the highest sequence of what lies before
    SegmentTally of(JournalFiles.Stored segment, Part part, long before);
  }

  /// @param back the second part; null if the first is all
  private record Begun(JournalFiles.Stored segment, Future<SegmentTally> front, @Nullable Future<SegmentTally> back) {}

  /// @param middle where a second part may begin; 0 if the first is all
  SegmentWalks(List<JournalFiles.Stored> segments, Walk walk, ToLongFunction<JournalFiles.Stored> middle) {
    this.walk = walk;
    this.middle = middle;
    this.segments = segments.iterator();
  }

  /// What was found in the next segment.
  ///
  /// Each part was walked as if nothing lay before it. That matters only if its first record is not newer than all
  /// before, which is of an earlier life of the file then: such a segment is walked again. So is one of which a part
  /// failed, for that may be of an earlier life, too: what fails then fails, whichever part it was in.
  SegmentTally next(long before) {
    while (segments.hasNext() && begun.size() < MOST_BEGUN) {
      begun.add(begin(segments.next()));
    }
    Begun next = begun.remove();
    SegmentTally tally = found(next.front());
    return tally != null && isWhole(tally, next.back()) && tally.holdsAfter(before)
        ? tally
        : walk.of(next.segment(), Part.ALL, before);
  }

  private Begun begin(JournalFiles.Stored segment) {
    long at = middle.applyAsLong(segment);
    Future<SegmentTally> front = lanes.submit(() -> walk.of(segment, at == 0 ? Part.ALL : new Part(0, at), 0));
    return new Begun(segment, front,
        at == 0 ? null : lanes.submit(() -> walk.of(segment, new Part(at, Long.MAX_VALUE), 0)));
  }

  /// Adds the second part, if it is one.
  private static boolean isWhole(SegmentTally front, @Nullable Future<SegmentTally> second) {
    if (second == null || !front.isAtNext()) {
      return true; // it went on to the end
    }
    SegmentTally back = found(second);
    if (back == null || !front.isFollowedBy(back)) {
      return false;
    }
    front.append(back);
    return true;
  }

  /// Null if the walk failed.
  private static @Nullable SegmentTally found(Future<SegmentTally> walk) {
    try {
      return walk.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      return null;
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
