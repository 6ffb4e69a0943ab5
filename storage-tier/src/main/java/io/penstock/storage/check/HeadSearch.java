package io.penstock.storage.check;

import io.penstock.storage.engine.Frames;
import io.penstock.storage.engine.SegmentUnreadableException;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordVersionException;

/// Looks for good heads in the file of a segment where no frame says that there is one. Reads on from where it is asked to begin; one thread.
public final class HeadSearch {
  private final Frames frames;
  private final SegmentWindow file;
  private final RecordCheck records;

  /// @param file stays open
  public HeadSearch(Frames frames, SegmentWindow file) {
    this.frames = frames;
    this.file = file;
    this.records = new RecordCheck(file);
  }

  /// Whether a record begins in `[from, end)` that may be brought back: one of this life of the file, which another follows. A last one looks as a
  /// stop leaves it between its bytes and its frame: nobody was promised that.
  ///
  /// @param highest sequence of any record before
  /// @return true, too, if the medium does not say, or a newer release wrote what is there
  public boolean hides(long from, long end, long highest) {
    try {
      long at = find(from, end, highest);
      RecordHead head = at == 0 ? null : records.headAlone(at);
      return head != null && isFollowed(at, head);
    } catch (SegmentUnreadableException | RecordVersionException e) {
      return true;
    }
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
