package io.penstock.storage;

import io.penstock.storage.check.HeadSearch;
import io.penstock.storage.engine.Frames;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.SegmentWindow;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Good records to which no frame leads any more, since one before them is broken: an opening does not take them, but a repair brings them back, so
/// their segment must stay. Looks at what an opening passes over, at most once at each byte. One thread.
final class HiddenRecords {
  private static final int NAMED = 8;

  private final SegmentEngine engine;
  private final @Nullable Frames frames;
  private final List<Path> files = new ArrayList<>();
  /// Of each of `files`: the lowest sequence that is hidden, and the highest.
  private final NavigableMap<Long, Long> sequences = new TreeMap<>();
  /// The rest is of the segment that is visited.
  private @Nullable Path file;
  private @Nullable SegmentWindow window;
  private long end;
  private LongSummaryStatistics found = new LongSummaryStatistics();

  HiddenRecords(SegmentEngine engine) {
    this.engine = engine;
    this.frames = Frames.of(engine.name());
  }

  /// Begins with `segment`.
  void visit(int segment) {
    file = engine.file(segment);
    end = 0;
    found = new LongSummaryStatistics();
  }

  /// A good record is at `at`, and none before it has a sequence above `highest`: what lies between it and the one before is the engine's own.
  void passed(Location at, long highest) {
    if (frames != null && frames.next(end) + frames.bytes() < at.offset()) {
      look(at.offset(), highest);
    }
    end = at.offset() + at.length();
  }

  /// A frame leads to `at`, where no good record is; answers whether it hides some.
  boolean hides(Location at, long highest) {
    boolean hides = look(at.offset() + at.length(), highest);
    end = at.offset() + at.length();
    return hides;
  }

  /// The visit came to its end; answers whether the segment must stay.
  boolean left(long highest) {
    close(); // the rest may have been cut off
    look(Long.MAX_VALUE, highest);
    close();
    if (found.getCount() == 0 || file == null) {
      return false;
    }
    files.add(file);
    sequences.merge(found.getMin(), found.getMax(), Math::max);
    return true;
  }

  private boolean look(long to, long highest) {
    if (frames == null || file == null) {
      return false;
    }
    if (window == null) {
      window = SegmentWindow.open(file);
    }
    LongSummaryStatistics hidden = new HeadSearch(frames, window).hidden(end, Math.min(to, window.size()), highest);
    found.combine(hidden);
    return hidden.getCount() > 0;
  }

  private void close() {
    if (window != null) {
      window.close();
      window = null;
    }
  }

  /// Whether a segment that must stay may hold the record of this sequence.
  boolean mayHold(long sequence) {
    Map.Entry<Long, Long> from = sequences.floorEntry(sequence);
    return from != null && sequence <= from.getValue();
  }

  /// The highest sequence that is hidden; 0 if none is.
  long highest() {
    return sequences.values().stream().mapToLong(Long::longValue).max().orElse(0);
  }

  /// Segments that must stay.
  int segments() {
    return files.size();
  }

  /// What there is to be done, by name; null if there is nothing.
  @Nullable String problem() {
    if (files.isEmpty()) {
      return null;
    }
    String names = String.join(", ", files.stream().limit(NAMED).map(each -> each.getFileName().toString()).toList());
    String more = files.size() > NAMED ? " and " + (files.size() - NAMED) + " more" : "";
    return names + more + " must have whole frames (hid good records behind broken ones): left as it is until `penstock ssd repair "
        + engine.directory() + "` brings these back";
  }
}
