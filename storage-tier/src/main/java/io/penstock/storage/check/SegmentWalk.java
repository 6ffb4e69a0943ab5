package io.penstock.storage.check;

import io.penstock.storage.engine.EngineFailure.SegmentUnreadableException;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordVersionException;
import org.jspecify.annotations.Nullable;

/// Walks the file of a segment from head to head. Where no whole head follows a record, the walk searches for the next
/// one. So it finds every whole record, whatever lies between two. One thread.
///
/// A head is whole if its magic, CRC and length are right. Its commit mark may stand in for its CRC.
public final class SegmentWalk {
  /// Number of failures after which the walk fails.
  private static final int MOST_UNREADABLE = 8;
  private static final int PAGE_BYTES = 4096;
  private static final int STEP = 4; // every record begins at a multiple

  private final SegmentWindow file;
  private final RecordCheck records;
  private final Visitor visitor;
  private int unreadable;
  private long lastUnreadable = -1;

  /// Receives the findings of the walk, in the order of the file.
  public interface Visitor {
    /// A whole head is at `at`.
    ///
    /// @return whether its record was finished; if not, the next record may lie anywhere behind the head
    boolean record(long at, RecordHead head);

    /// No record begins in `[from, to)`. The next one begins at `to` or before.
    void broken(long from, long to);

    /// The medium does not give the bytes at `at`.
    void unreadable(long at, SegmentUnreadableException why);

    /// No record begins behind `from`.
    ///
    /// @param isEmpty whether nothing was ever written there
    void end(long from, boolean isEmpty);
  }

  public SegmentWalk(SegmentWindow file, Visitor visitor) {
    this.file = file;
    this.records = new RecordCheck(file);
    this.visitor = visitor;
  }

  /// Walks from the beginning to the end.
  ///
  /// @throws SegmentUnreadableException if the medium fails too often
  /// @throws RecordVersionException if a newer release wrote the first record
  public void run() {
    long end = file.start();
    long from = end;
    while (from < file.size()) {
      long at = next(from);
      if (at < 0) {
        break;
      }
      RecordHead head = head(at, end == file.start());
      if (head == null) {
        from = at + STEP;
        continue;
      }
      if (at - end > file.between()) {
        visitor.broken(end, at);
      }
      file.visit(at);
      long behind = at + RecordCheck.length(head);
      boolean isFinished = isFinished(at, head);
      end = isFinished ? behind : Math.max(end, at + head.bytes());
      from = end;
    }
    end(end);
  }

  /// A head of another version behind a record of this one is part of a payload, since each run begins a new segment.
  private @Nullable RecordHead head(long at, boolean isFirst) {
    try {
      return records.head(at);
    } catch (RecordVersionException e) {
      if (isFirst) {
        throw e;
      }
      return null;
    }
  }

  private boolean isFinished(long at, RecordHead head) {
    try {
      return visitor.record(at, head);
    } catch (SegmentUnreadableException e) {
      unreadable(e);
      return true; // the head tells the length
    }
  }

  /// The next offset of a record's magic from `from` on; below 0 if there is none.
  private long next(long from) {
    long at = from;
    while (at < file.size()) {
      try {
        return isEmpty(at) ? -1 : file.find(RecordFormat.MAGIC, at, STEP);
      } catch (SegmentUnreadableException e) {
        unreadable(e);
        at = Math.max(at, e.offset()) / PAGE_BYTES * PAGE_BYTES + PAGE_BYTES;
      }
    }
    return -1;
  }

  private void unreadable(SegmentUnreadableException e) {
    if (e.offset() == lastUnreadable) {
      return;
    }
    lastUnreadable = e.offset();
    if (++unreadable > MOST_UNREADABLE) {
      throw e;
    }
    visitor.unreadable(e.offset(), e);
  }

  private boolean isEmpty(long from) {
    return file.isZero(from);
  }

  private void end(long from) {
    if (from < file.size()) {
      visitor.end(from, isEmptyOrUnknown(from));
    }
  }

  private boolean isEmptyOrUnknown(long from) {
    try {
      return isEmpty(from);
    } catch (SegmentUnreadableException e) {
      return false; // reported before
    }
  }
}
