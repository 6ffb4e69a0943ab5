package io.penstock.storage.check;

import io.penstock.storage.engine.Frame;
import io.penstock.storage.engine.Frames;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentUnreadableException;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordVersionException;
import org.jspecify.annotations.Nullable;

/// Goes through a whole segment, frame by frame; where a frame leads nowhere it looks for the next record behind it.
///
/// A file may have had an earlier life, whose records lie behind the last one: a record whose sequence is not higher
/// than all before is one of those, and ends the walk.
final class SegmentWalk {
  /// Hears what there is, in the order of the file.
  interface Visitor {
    /// A record with a good head.
    ///
    /// @param flaw what is wrong behind the head; null if nothing is
    void record(Location at, RecordHead head, RecordCheck.@Nullable Flaw flaw);

    void damaged(long offset, long length, DamageKind kind, String reason);

    /// A repair took `length` bytes out.
    void aside(long length);
  }

  /// A part of a file.
  ///
  /// @param from 0, or where a frame begins
  /// @param until where another frame begins, with which somebody else begins, if the walk comes to it
  record Part(long from, long until) {
    static final Part ALL = new Part(0, Long.MAX_VALUE);
  }

  /// How far from the middle of a file a record is looked for.
  private static final int NEARBY = 16 << 20;

  private final Frames frames;
  private final int segment;
  private final SegmentWindow file;
  private final RecordCheck records;
  private final HeadSearch heads;
  private final Visitor visitor;
  private final long from;
  private final long until;
  private long highest;
  private long first;
  private long end;

  /// @param part of the file that is to be walked
  /// @param highest sequence of any record of earlier segments
  SegmentWalk(Frames frames, int segment, SegmentWindow file, Part part, long highest, Visitor visitor) {
    this.frames = frames;
    this.segment = segment;
    this.file = file;
    this.records = new RecordCheck(file);
    this.heads = new HeadSearch(frames, file);
    this.from = part.from();
    this.until = part.until();
    this.highest = highest;
    this.visitor = visitor;
  }

  /// Goes from the beginning to the end, or to where the medium gives no more.
  void run() {
    long at = from;
    try {
      if (from == 0) {
        requireHead();
        at = frames.start();
      }
      while (at < file.size() && at != until) {
        at = step(at);
      }
      end = at;
    } catch (SegmentUnreadableException e) {
      visitor.damaged(at, file.size() - at, DamageKind.UNREADABLE, String.valueOf(e.getMessage()));
    }
  }

  /// Whether the walk came to where the next part begins.
  boolean isAtNext() {
    return end == until;
  }

  /// A frame about the middle of the file, before a good head, so that a second walk may begin there; 0 if none is
  /// found. It may lie in a block: then no walk comes to it.
  long middle() {
    try {
      long middle = Math.max(frames.start(), file.size() / 2);
      long body = find(middle, Math.min(file.size(), middle + NEARBY));
      long at = body - frames.bytes();
      return body > 0 && frames.at(file, segment, at).kind() == Frame.Kind.RECORD ? at : 0;
    } catch (SegmentUnreadableException | RecordVersionException e) {
      return 0; // whoever comes there says so
    }
  }

  private void requireHead() {
    if (!frames.hasHead(file, segment)) {
      visitor.damaged(0, Math.min(file.size(), frames.start()), DamageKind.SEGMENT_HEAD,
          "segment must begin with its head (was something else)");
    }
  }

  /// Sequence of the first good head; 0 if there was none. Up to there it does not matter what went before, unless that
  /// is higher.
  long first() {
    return first;
  }

  /// The highest sequence so far.
  long highest() {
    return highest;
  }

  private long step(long at) {
    Frame frame = frames.at(file, segment, at);
    return switch (frame.kind()) {
      case RECORD -> record(at, frame.length());
      case OTHER -> other(at, frame.length());
      case END -> search(at, Frame.Kind.END, "");
      case BROKEN -> search(at, Frame.Kind.BROKEN, "a frame must stand here (was none)");
    };
  }

  private long record(long at, int length) {
    long body = at + frames.bytes();
    long next = frames.next(body + length);
    if (isAside(body, length)) {
      visitor.aside(next - at);
      return next;
    }
    RecordCheck.Read read = records.head(body, length);
    RecordHead head = read.head();
    if (head != null) {
      return good(at, body, head, null);
    }
    if (frames.isChecked() || leadsOn(next)) {
      visitor.damaged(at, next - at, DamageKind.HEAD, read.reason());
      return next;
    }
    return search(at, Frame.Kind.BROKEN, read.reason());
  }

  private boolean isAside(long body, int length) {
    return length >= Long.BYTES && records.word(body) == RecordFormat.GAP;
  }

  /// @param at where the frame begins, or should
  /// @param broken why no frame leads there; null if one does
  private long good(long at, long body, RecordHead head, @Nullable String broken) {
    if (head.sequence() <= highest) {
      return file.size();
    }
    highest = head.sequence();
    first = first == 0 ? highest : first;
    int length = RecordCheck.length(head);
    RecordCheck.Flaw flaw = records.flaw(body, head);
    long next = frames.next(body + length);
    if (flaw != null && heads.isUnfinished(body, head)) {
      visitor.damaged(at, file.size() - at, DamageKind.TORN, "the last record must be finished (was not)");
      return file.size();
    }
    if (broken != null) {
      visitor.damaged(at, body - at, DamageKind.FRAME, broken);
    }
    visitor.record(new Location(segment, body, length), head, flaw);
    return next;
  }

  /// Data of the engine's own; if a record hides in it, the frame is wrong.
  private long other(long at, int length) {
    long next = frames.next(at + frames.bytes() + length);
    boolean hides = find(at + frames.bytes(), Math.min(next, file.size())) > 0;
    return hides || !leadsOn(next) ? search(at, Frame.Kind.BROKEN, "a frame must end where the next one begins") : next;
  }

  /// Whether a frame at `at` is one that may well be.
  private boolean leadsOn(long at) {
    if (at >= file.size()) {
      return at == file.size();
    }
    Frame frame = frames.at(file, segment, at);
    long body = at + frames.bytes();
    return switch (frame.kind()) {
      case END, OTHER -> true;
      case BROKEN -> false;
      case RECORD -> isAside(body, frame.length()) || records.head(body, frame.length()).head() != null;
    };
  }

  /// The frame at `at` leads nowhere: goes on with the next record that is not of an earlier life; if there is none,
  /// all ends at `at`.
  private long search(long at, Frame.Kind kind, String reason) {
    long body = find(at + frames.bytes(), file.size());
    if (body > 0) {
      return record(at, body, kind == Frame.Kind.END ? "a frame must stand here (was the end)" : reason);
    }
    if (kind == Frame.Kind.BROKEN || hasStrayBytes(at)) {
      visitor.damaged(at, file.size() - at, DamageKind.TORN,
          kind == Frame.Kind.END ? "nothing must follow the end (was something)" : reason);
    }
    return file.size();
  }

  private long record(long at, long body, String broken) {
    RecordHead head = records.headAlone(body);
    if (head == null) {
      throw new IllegalStateException(
          "a record must be at " + body + " of segment " + segment + " as it was (was changed meanwhile)");
    }
    return good(at, body, head, broken);
  }

  /// Where the next record of this life begins, before `end`; 0 if there is none.
  private long find(long from, long end) {
    return heads.find(from, end, highest);
  }

  /// Whether bytes follow an end that are neither reserved nor of an earlier life.
  private boolean hasStrayBytes(long at) {
    long behind = at + frames.bytes() + frames.at(file, segment, at).length();
    return behind < file.size() && (!frames.isReserved() || !file.isZero(behind)) && !cutsEarlierLife(at, behind)
        && heads.find(at, file.size(), 0) == 0;
  }

  /// Whether the zeros that a writer leaves behind its last record, no more of them, stand at `at`: what follows them
  /// is the rest of a record of an earlier life, whose head the new life has written over. A page that was lost has
  /// more zeros, or others.
  private boolean cutsEarlierLife(long at, long behind) {
    long to = at + frames.zerosBehind();
    return to + Long.BYTES <= file.size() && records.isZero(behind, to) && records.word(to) != 0;
  }
}
