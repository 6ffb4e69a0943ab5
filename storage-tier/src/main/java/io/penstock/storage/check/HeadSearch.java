package io.penstock.storage.check;

import io.penstock.storage.engine.Frames;
import io.penstock.storage.engine.SegmentUnreadableException;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordVersionException;
import java.util.LongSummaryStatistics;

/// Looks for good heads in the file of a segment where no frame says that there is one. Reads on from where it is asked
/// to begin; one thread.
public final class HeadSearch {
  /// Behind a broken frame there may be records that an opening does not see and a repair finds again: so many
  /// sequences are not used again.
  public static final long UNSEEN = 1L << 32;

  private final Frames frames;
  private final SegmentWindow file;
  private final RecordCheck records;
  private long alone;

  /// @param file stays open
  public HeadSearch(Frames frames, SegmentWindow file) {
    this.frames = frames;
    this.file = file;
    this.records = new RecordCheck(file);
  }

  /// Sequences of the records that begin in `[from, end)` and may be brought back: those of this life of the file, if
  /// another record follows the first. A last one looks as a stop leaves it between its bytes and its frame: nobody was
  /// promised that.
  ///
  /// @param highest sequence of any record before
  /// @return empty if there are none; all that this life and the next may have used, if the medium does not say, or a
  ///     newer release wrote what is there
  public LongSummaryStatistics hidden(long from, long end, long highest) {
    LongSummaryStatistics sequences = new LongSummaryStatistics();
    try {
      long at = find(from, end, highest);
      RecordHead head = at == 0 ? null : records.headAlone(at);
      if (head == null || !isFollowed(at, head)) {
        alone = head == null ? 0 : head.sequence();
        return sequences;
      }
      while (head != null) {
        sequences.accept(head.sequence());
        at = find(frames.next(at + RecordCheck.length(head)), end, head.sequence());
        head = at == 0 ? null : records.headAlone(at);
      }
    } catch (SegmentUnreadableException | RecordVersionException e) {
      long last = sequences.getCount() == 0 ? highest : sequences.getMax();
      sequences.accept(highest + 1);
      sequences.accept(last + 2 * UNSEEN); // of the life of the last one, or of the next
    }
    return sequences;
  }

  /// Sequence of the last record, which [#hidden] found and did not tell of, since no other follows; 0 if it found
  /// none. A repair brings it back if it was finished.
  public long alone() {
    return alone;
  }

  /// Whether the record at `at` was never finished: it has no mark, and nothing newer follows.
  boolean isUnfinished(long at, RecordHead head) {
    return !records.isMarked(at, head) && !isFollowed(at, head);
  }

  private boolean isFollowed(long at, RecordHead head) {
    return find(frames.next(at + RecordCheck.length(head)), file.size(), head.sequence()) > 0;
  }

  /// Where the next record begins in `[from, end)` whose sequence is higher than `highest`; 0 if there is none.
  long find(long from, long end, long highest) {
    for (long at = magic(frames.next(from), end); at > 0; at = magic(at + frames.alignment(), end)) {
      RecordHead head = records.headAlone(at);
      if (head != null && head.sequence() > highest) {
        return at;
      }
    }
    return 0;
  }

  private long magic(long from, long end) {
    return file.find(RecordFormat.MAGIC, from, end, frames.alignment());
  }
}
