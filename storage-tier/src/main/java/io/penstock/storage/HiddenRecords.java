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

/// Good records to which no frame leads any more, since one before them is broken: an opening does not take them, but a
/// repair brings them back, so their segment must stay. Looks at what an opening passes over, at most once at each
/// byte. One thread.
final class HiddenRecords {
  private static final int NAMED = 8;

  private final SegmentEngine engine;
  private final @Nullable Frames frames;
  private final List<Path> files = new ArrayList<>();
  /// By the lowest sequence that is hidden in a segment, also of one that may go.
  private final NavigableMap<Long, Range> sequences = new TreeMap<>();
  /// The rest is of the segment that is visited.
  private int segment;
  /// A last record without its frame; 0 if there is none.
  private long alone;
  private @Nullable Path file;
  private @Nullable SegmentWindow window;
  private long end;
  private LongSummaryStatistics found = new LongSummaryStatistics();

  private record Range(long highest, int segment) {}

  HiddenRecords(SegmentEngine engine) {
    this.engine = engine;
    this.frames = Frames.of(engine.name());
  }

  /// Begins with segment `number`.
  void visit(int number) {
    segment = number;
    alone = 0;
    file = engine.file(number);
    end = 0;
    found = new LongSummaryStatistics();
  }

  /// A good record is at `at`, and none before it has a sequence above `highest`: what lies between it and the one
  /// before is the engine's own.
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
    if (alone > 0) {
      sequences.putIfAbsent(alone, new Range(alone, segment));
    }
    if (found.getCount() == 0 || file == null) {
      return false;
    }
    files.add(file);
    sequences.merge(found.getMin(), new Range(found.getMax(), segment),
        (one, other) -> one.highest() > other.highest() ? one : other);
    return true;
  }

  private boolean look(long to, long highest) {
    if (frames == null || file == null) {
      return false;
    }
    if (window == null) {
      window = SegmentWindow.open(file);
    }
    HeadSearch search = new HeadSearch(frames, window);
    LongSummaryStatistics hidden = search.hidden(end, Math.min(to, window.size()), highest);
    alone = Math.max(alone, search.alone());
    found.combine(hidden);
    return hidden.getCount() > 0;
  }

  private void close() {
    if (window != null) {
      window.close();
      window = null;
    }
  }

  /// Whether the segment that was visited last ends with a record without its frame: a repair may bring that back, but
  /// the segment may go.
  boolean isAlone() {
    return alone > 0;
  }

  /// The segment that may hold the record of this sequence where no frame leads to it; 0 if there is none.
  int holder(long sequence) {
    Map.Entry<Long, Range> from = sequences.floorEntry(sequence);
    return from != null && sequence <= from.getValue().highest() ? from.getValue().segment() : 0;
  }

  /// The highest sequence that is hidden; 0 if none is.
  long highest() {
    return sequences.values().stream().mapToLong(Range::highest).max().orElse(0);
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
    return names + more
        + " must have whole frames (hid good records behind broken ones): left as it is until `penstock ssd repair "
        + engine.directory() + "` brings these back";
  }
}
