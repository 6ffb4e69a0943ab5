package io.penstock.recording;

import io.penstock.recording.RecordedEvent.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Compares what a played tier does with its recording, event by event. Reads the recording one turn ahead.
final class Comparison implements Script {
  /// Events kept for the context of a difference.
  private static final int CONTEXT = 12;

  private final Iterator<RecordedEvent> recording;
  /// Events of the turn that is played, which have not come yet.
  private final ArrayDeque<RecordedEvent> turn = new ArrayDeque<>();
  private final ArrayDeque<RecordedEvent> passed = new ArrayDeque<>();
  private @Nullable RecordedEvent following;
  private long count;
  private @Nullable Difference difference;
  private boolean gap;
  private boolean tellsChecksums;

  Comparison(Iterator<RecordedEvent> recording) {
    this.recording = recording;
    RecordedEvent first = recording.hasNext() ? recording.next() : null;
    this.gap = first != null && first.kind() == Kind.GAP; // its beginning is missing
    this.following = gap ? null : first;
  }

  /// Reads the next turn.
  ///
  /// @return the event that it begins with; null at the end
  @Nullable RecordedEvent nextTurn() {
    RecordedEvent begin = following;
    if (begin == null) {
      return null;
    }
    turn.add(begin);
    following = null;
    tellsChecksums |= begin.kind() == Kind.OPENED && begin.size() > 0 && begin.number(0) == 1;
    while (recording.hasNext()) {
      RecordedEvent event = recording.next();
      if (event.kind() == Kind.GAP) { // what is there of the turn may not be all
        gap = true;
        turn.clear();
        return null;
      }
      if (event.begins()) {
        following = event;
        break;
      }
      if (event.isSignal()) { // within a turn, which does not depend on it
        count++;
      } else {
        turn.add(event);
      }
    }
    return begin;
  }

  /// Events of the turn that have not come yet.
  List<RecordedEvent> turn() {
    return new ArrayList<>(turn);
  }

  @Override
  public void add(RecordedEvent event) {
    if (difference != null) {
      return;
    }
    RecordedEvent expected = turn.peek();
    if (event.equals(expected)) {
      turn.remove();
      passed.add(event);
      if (passed.size() > CONTEXT) {
        passed.remove();
      }
      count++;
    } else if (expected != null || following != null) { // else the recording was cut within its last turn
      difference = new Difference(count, expected, event, List.copyOf(passed));
    }
  }

  @Override
  public @Nullable RecordedEvent next() {
    return turn.peek();
  }

  /// The difference, if the turn that was played has one: events that came too much, or too few.
  @Nullable Difference endOfTurn() {
    if (difference == null && !turn.isEmpty()) {
      difference = new Difference(count, turn.peek(), null, List.copyOf(passed));
    }
    return difference;
  }

  @Override
  public boolean keepsPayloads() {
    return tellsChecksums;
  }

  boolean hasGap() {
    return gap;
  }

  /// Events that were equal.
  long count() {
    return count;
  }

  /// Time of the turn that is played.
  long nanos() {
    RecordedEvent next = turn.peek();
    return next == null ? 0 : next.at();
  }
}
