package io.penstock.examples.incidents.script;

import io.penstock.recording.Difference;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.check.Bisection;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Plays a recording of an incident: gives its inputs to a fresh subject, compares the facts with those recorded, and
/// looks for the event that broke the promise.
public final class IncidentPlay {
  private final IncidentRecording recording;
  private final Supplier<Subject> subjects;

  public IncidentPlay(IncidentRecording recording, Supplier<Subject> subjects) {
    this.recording = recording;
    this.subjects = subjects;
  }

  /// The event that broke the promise.
  ///
  /// @param event number of the input that began the turn, in the recording, from 0
  /// @param violation how the promise is broken from then on
  /// @param plays how often the recording was played to find it
  public record Finding(int event, String violation, int plays) {}

  /// Plays all events.
  ///
  /// @return the first event that differs; null if none does
  public @Nullable Difference play() {
    List<RecordedEvent> expected = recording.events();
    List<RecordedEvent> actual = new ArrayList<>();
    try (Subject subject = subjects.get()) {
      for (RecordedEvent event : expected) {
        if (event.begins()) {
          int next = actual.size();
          if (next >= expected.size() || !expected.get(next).equals(event)) {
            break; // the facts before it differ
          }
          actual.add(event);
          if (event.kind() != Kind.BEGAN) {
            subject.take(event, actual::add);
          }
        }
      }
    }
    return difference(expected, actual);
  }

  private static @Nullable Difference difference(List<RecordedEvent> expected, List<RecordedEvent> actual) {
    int turn = 0;
    for (int i = 0; i < Math.max(expected.size(), actual.size()); i++) {
      RecordedEvent wanted = i < expected.size() ? expected.get(i) : null;
      RecordedEvent came = i < actual.size() ? actual.get(i) : null;
      turn = wanted != null && wanted.begins() ? i : turn;
      if (!Objects.equals(wanted, came)) {
        return new Difference(i, wanted, came, actual.subList(Math.max(0, i - 4), Math.min(i, actual.size())), turn,
            expected.get(turn));
      }
    }
    return null;
  }

  /// Finds the turn after which the promise is broken, and how it is broken.
  ///
  /// @return null if the promise is kept to the end
  public @Nullable Finding find() {
    String[] last = new String[1];
    Bisection bisection = new Bisection(events -> played(events, last));
    return bisection.find().map(found -> new Finding(Math.toIntExact(found.first()),
        Objects.requireNonNull(last[0], "violation"), Math.toIntExact(bisection.plays()))).orElse(null);
  }

  /// Plays the turns that end before event `most`.
  ///
  /// @param last gets how the promise is broken, if it is
  private Bisection.Played played(long most, @Nullable String[] last) {
    List<RecordedEvent> events = recording.events();
    int end = turnEnd(0);
    try (Subject subject = subjects.get()) {
      String violation = null;
      while (end < events.size() && turnEnd(end) <= most) {
        subject.take(events.get(end), fact -> {});
        violation = violation == null ? subject.violation() : violation;
        end = turnEnd(end);
      }
      last[0] = violation == null ? last[0] : violation;
      return new Bisection.Played(end, end == events.size() ? end : turnEnd(end), violation == null);
    }
  }

  /// Number after the last event of the turn that begins with event `first`.
  private int turnEnd(int first) {
    int end = first + 1;
    while (end < recording.events().size() && !recording.events().get(end).begins()) {
      end++;
    }
    return end;
  }
}
