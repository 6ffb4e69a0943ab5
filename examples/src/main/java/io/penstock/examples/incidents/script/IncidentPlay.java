package io.penstock.examples.incidents.script;

import io.penstock.recording.Difference;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
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
  private int plays;

  public IncidentPlay(IncidentRecording recording, Supplier<Subject> subjects) {
    this.recording = recording;
    this.subjects = subjects;
  }

  /// The event that broke the promise.
  ///
  /// @param event number of the event in the recording, from 0
  /// @param violation how the promise is broken from then on
  /// @param plays how often the recording was played to find it
  public record Finding(int event, String violation, int plays) {}

  /// Plays all events.
  ///
  /// @return the first event that differs; null if none does
  public @Nullable Difference play() {
    plays++;
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

  /// How the promise is broken after the first `events` events; null if it never was.
  private @Nullable String violationAfter(long events) {
    plays++;
    try (Subject subject = subjects.get()) {
      for (RecordedEvent event : recording.events().subList(0, Math.toIntExact(events))) {
        if (event.begins() && event.kind() != Kind.BEGAN) {
          subject.take(event, fact -> {});
          String violation = subject.violation();
          if (violation != null) {
            return violation;
          }
        }
      }
      return null;
    }
  }

  /// Finds the first event after which the promise is broken.
  ///
  /// @return null if it is kept to the end
  public @Nullable Finding find() {
    plays = 0;
    int from = 0; // kept after as many events
    int to = recording.events().size(); // broken after as many
    if (violationAfter(to) == null) {
      return null;
    }
    while (to - from > 1) {
      int middle = (from + to) >>> 1;
      if (violationAfter(middle) == null) {
        from = middle;
      } else {
        to = middle;
      }
    }
    String violation = violationAfter(to);
    return violation == null ? null : new Finding(to - 1, violation, plays);
  }
}
