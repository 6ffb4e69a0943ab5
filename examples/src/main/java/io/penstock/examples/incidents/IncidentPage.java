package io.penstock.examples.incidents;

import io.penstock.examples.incidents.script.IncidentRecording;
import java.util.Objects;

/// One incident for a reader: the events at the peer, the one that broke the promise, and the events on Penstock.
final class IncidentPage {
  private IncidentPage() {}

  static String of(Incident incident, IncidentRecording recording, IncidentReport report) {
    IncidentRun.End ours = IncidentRun.end(recording.inputs(), incident.ours());
    return """
        %s: %s (%s)
        promise: %s

        %s
        the peer: %s

        %s
        Penstock: %s
        """.formatted(incident.name(), incident.title(), incident.issue(), incident.promise(),
        EventLines.ofPeer(recording.events(), report.event(),
            Objects.requireNonNullElse(report.violation(), "not found")),
        report.peer(), EventLines.ofPenstock(ours.events(), recording.inputs()), report.penstock());
  }
}
