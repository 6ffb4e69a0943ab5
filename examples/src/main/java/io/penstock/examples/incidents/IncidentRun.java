package io.penstock.examples.incidents;

import io.penstock.examples.incidents.ShippedRecordings.Expected;
import io.penstock.examples.incidents.script.IncidentPlay;
import io.penstock.examples.incidents.script.IncidentPlay.Finding;
import io.penstock.examples.incidents.script.IncidentRecording;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.Difference;
import io.penstock.recording.RecordedEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Runs an incident: plays its recording on the double, searches the event that broke the promise, and gives the same
/// inputs to Penstock.
final class IncidentRun {
  private final Incident incident;
  private final IncidentRecording recording;
  private final Expected expected;

  IncidentRun(Incident incident, IncidentRecording recording, Expected expected) {
    this.incident = incident;
    this.recording = recording;
    this.expected = expected;
  }

  /// How the inputs ended at a subject.
  ///
  /// @param events inputs and facts, in order
  /// @param violation the first one; null if the promise was kept
  record End(List<RecordedEvent> events, @Nullable String violation, boolean isGood, String text) {}

  static End end(List<RecordedEvent> inputs, Supplier<Subject> subjects) {
    List<RecordedEvent> events = new ArrayList<>();
    String violation = null;
    try (Subject subject = subjects.get()) {
      for (RecordedEvent input : inputs) {
        List<RecordedEvent> facts = new ArrayList<>();
        subject.take(input, facts::add);
        facts.stream().filter(fact -> isBefore(fact, input)).forEach(events::add);
        events.add(input);
        facts.stream().filter(fact -> !isBefore(fact, input)).forEach(events::add);
        violation = violation == null ? subject.violation() : violation;
      }
      return new End(events, violation, subject.isGood(), subject.ending());
    }
  }

  /// Whether a timer of the subject ran before the input.
  private static boolean isBefore(RecordedEvent fact, RecordedEvent input) {
    return fact.begins() && fact.at() < input.at();
  }

  IncidentReport run() {
    IncidentPlay play = new IncidentPlay(recording, incident.peer());
    Difference difference = play.play();
    long began = System.nanoTime();
    Finding finding = play.find();
    double millis = (System.nanoTime() - began) / 1e6;
    End peer = end(recording.inputs(), incident.peer());
    End ours = end(recording.inputs(), incident.ours());
    boolean holds = difference == null && finding != null && finding.event() == expected.event() && !peer.isGood()
        && ours.violation() == null && ours.isGood() && recording.sha256().equals(expected.sha256());
    return new IncidentReport(incident.name(), incident.issue(), incident.title(), incident.promise(),
        recording.sha256(), recording.events().size(), difference == null ? null : difference.toString(),
        finding == null ? -1 : finding.event(), finding == null ? null : finding.violation(),
        finding == null ? 0 : finding.plays(), Math.round(millis * 100) / 100.0, peer.text(), ours.text(),
        ours.violation(), holds);
  }
}
