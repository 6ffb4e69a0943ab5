package io.penstock.recording;

import static java.util.Objects.requireNonNull;

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
  private final Player.Follower follower;
  /// Events of the turn that is played, which have not come yet.
  private final ArrayDeque<Placed> turn = new ArrayDeque<>();
  /// Events of the turn, with the signals within it.
  private final List<RecordedEvent> whole = new ArrayList<>();
  private final ArrayDeque<RecordedEvent> passed = new ArrayDeque<>();
  /// Events read from the recording.
  private long read;
  private @Nullable Placed begin;
  private @Nullable Placed following;
  /// Number of the last event of the turn.
  private long last;
  private long count;
  private @Nullable Difference difference;
  private boolean gap;
  private boolean tellsChecksums;
  private boolean ended;

  /// An event and its number in the recording.
  private record Placed(long number, RecordedEvent event) {}

  Comparison(Iterator<RecordedEvent> recording, Player.Follower follower) {
    this.recording = recording;
    this.follower = follower;
    Placed first = recording.hasNext() ? read() : null;
    this.gap = first != null && first.event().kind() == Kind.GAP; // its beginning is missing
    this.following = gap ? null : first;
  }

  private Placed read() {
    return new Placed(read++, recording.next());
  }

  /// Reads the next turn.
  ///
  /// @return the event that it begins with; null at the end
  @Nullable RecordedEvent nextTurn() {
    begin = following;
    if (begin == null) {
      return null;
    }
    whole.clear();
    whole.add(begin.event());
    turn.add(begin);
    last = begin.number();
    following = null;
    tellsChecksums |= begin.event().kind() == Kind.OPENED && begin.event().size() > 0
        && begin.event().number(0) == 1;
    while (recording.hasNext()) {
      Placed next = read();
      if (next.event().kind() == Kind.GAP) { // what is there of the turn may not be all
        gap = true;
        turn.clear();
        return null;
      }
      if (next.event().begins()) {
        following = next;
        break;
      }
      whole.add(next.event());
      last = next.number();
      if (!next.event().isSignal()) { // a turn does not depend on the signals within it
        turn.add(next);
      }
    }
    return begin.event();
  }

  /// Whether the follower wants the turn to be played; it then gets the events of the turn.
  boolean isWanted() {
    Placed first = requireNonNull(begin, "begin");
    if (!follower.plays(first.number(), last, first.event())) {
      return false;
    }
    for (RecordedEvent event : whole) {
      follower.recorded(event);
      if (event.isSignal() && !event.begins()) {
        count++;
        follower.played(event);
      }
    }
    return true;
  }

  /// Events of the turn that have not come yet.
  List<RecordedEvent> turn() {
    return turn.stream().map(Placed::event).toList();
  }

  @Override
  public void add(RecordedEvent event) {
    if (difference != null || ended) {
      return;
    }
    RecordedEvent expected = next();
    if (expected == null && following == null) {
      return; // the recording was cut within its last turn
    }
    follower.played(event);
    if (expected != null && event.equals(expected)) {
      turn.remove();
      passed.add(event);
      if (passed.size() > CONTEXT) {
        passed.remove();
      }
      count++;
    } else {
      difference = difference(event);
    }
  }

  private Difference difference(@Nullable RecordedEvent actual) {
    Placed first = requireNonNull(begin, "begin");
    Placed expected = turn.peek();
    return new Difference(expected == null ? last + 1 : expected.number(), expected == null ? null : expected.event(),
        actual, List.copyOf(passed), first.number(), first.event());
  }

  @Override
  public @Nullable RecordedEvent next() {
    Placed next = turn.peek();
    return next == null ? null : next.event();
  }

  /// The difference, if the turn that was played has one: events that came too much, or too few.
  @Nullable Difference endOfTurn() {
    if (difference == null && !turn.isEmpty()) {
      difference = difference(null);
    }
    return difference;
  }

  @Override
  public boolean keepsPayloads() {
    return tellsChecksums;
  }

  /// Ends the comparison: the tiers work on without turns.
  void end() {
    ended = true;
  }

  @Override
  public boolean hasEnded() {
    return ended;
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
    RecordedEvent next = next();
    return next == null ? 0 : next.at();
  }
}
