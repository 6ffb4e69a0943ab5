package io.penstock.examples.incidents;

import io.penstock.examples.incidents.script.IncidentRecording;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.ExitCode;
import java.util.ArrayList;
import java.util.List;

/// Plays recordings of incidents and shows the reports.
final class Playing {
  private Playing() {}

  /// @return the exit code of the command
  static int play(List<IncidentRecording> recordings, ShippedRecordings shipped, Console console, boolean json) {
    List<IncidentReport> reports = new ArrayList<>();
    for (IncidentRecording recording : recordings) {
      Incident incident = of(recording);
      reports.add(new IncidentRun(incident, recording, shipped.expected(incident.name())).run());
    }
    if (json) {
      console.json(reports);
    } else {
      if (recordings.size() == 1) {
        console.print(IncidentPage.of(of(recordings.getFirst()), recordings.getFirst(), reports.getFirst()));
      }
      console.out().print(IncidentsTable.of(reports));
    }
    return reports.stream().allMatch(IncidentReport::holds) ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private static Incident of(IncidentRecording recording) {
    return Gallery.INCIDENTS.stream().filter(each -> each.name().equals(recording.incident())).findFirst()
        .orElseThrow(() -> new DataException(
            "recording must be of an incident that is known here (was " + recording.incident() + ")"));
  }
}
