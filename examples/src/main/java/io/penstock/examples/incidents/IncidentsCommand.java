package io.penstock.examples.incidents;

import io.penstock.examples.incidents.script.IncidentRecording;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.node.cli.Console;
import io.penstock.node.text.Nearest;
import io.penstock.recording.RecordedEvent;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `penstock example incidents`.
@Command(name = "incidents", mixinStandardHelpOptions = true,
    description = {"Faults of the field, each as a recording of a small double of the peer that failed. Plays each"
        + " recording, finds the event that broke a promise by playing parts of it, and gives the same inputs to the"
        + " classes of Penstock. Exit code 1 if a recording plays to other events, if another event or none is found,"
        + " or if Penstock breaks the promise.",
      ""},
    footer = {"", "Examples:", "  penstock example incidents", "  penstock example incidents third-prompt",
      "  penstock example incidents --record ./incidents",
      "  penstock example incidents --play ./incidents/lost-fin.recording"})
public final class IncidentsCommand implements Callable<Integer> {
  private final Console console;

  @Parameters(paramLabel = "NAME", arity = "0..1", description = "The only incident, with all its events.")
  private @Nullable String name;

  @Option(names = "--play", paramLabel = "FILE", description = "Plays this recording of an incident instead of the"
      + " shipped ones, as 'penstock replay FILE' does. With NAME, it must be a recording of that incident.")
  private @Nullable Path play;

  @Option(names = "--record", paramLabel = "DIR",
      description = "Records all incidents, or the named one, into files in this folder. Made if it is not there."
          + " With --play, records what the double makes of the inputs of that recording.")
  private @Nullable Path record;

  @Option(names = "--json", description = "Prints all reports as JSON.")
  private boolean json;

  @Spec
  private @Nullable CommandSpec spec;

  public IncidentsCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    ShippedRecordings shipped = new ShippedRecordings();
    if (play != null) {
      return play(play);
    }
    List<Incident> chosen = name == null ? Gallery.INCIDENTS : List.of(incident(name));
    List<IncidentRecording> recordings = new ArrayList<>();
    for (Incident incident : chosen) {
      recordings.add(record == null
          ? shipped.recording(incident.name())
          : record(incident, incident.schedule().inputs(), record));
    }
    return Playing.play(recordings, shipped, console, json);
  }

  /// Plays `file` as `penstock replay` does, after its inputs were recorded again if that is wanted.
  private int play(Path file) {
    IncidentRecording recording = IncidentRecording.read(file);
    if (name != null && !incident(name).name().equals(recording.incident())) {
      throw new ParameterException(Objects.requireNonNull(spec).commandLine(),
          "NAME must be the incident of the recording %s, %s (was %s)".formatted(file, recording.incident(), name));
    }
    if (record != null) {
      record(incident(recording.incident()), recording.inputs(), record);
    }
    return new IncidentPlayer().play(List.of(file), console, json);
  }

  private IncidentRecording record(Incident incident, List<RecordedEvent> inputs, Path folder) {
    try (Subject peer = incident.peer().get()) {
      IncidentRecording recording = IncidentRecording.record(incident.name(), inputs, peer);
      Path file = folder.resolve(ShippedRecordings.fileOf(incident.name()));
      recording.write(file);
      console.say("recorded " + file);
      return recording;
    }
  }

  private Incident incident(String wanted) {
    return Gallery.INCIDENTS.stream().filter(each -> each.name().equals(wanted)).findFirst().orElseThrow(() -> {
      List<String> names = Gallery.INCIDENTS.stream().map(Incident::name).toList();
      List<String> near = Nearest.of(wanted, names);
      return new ParameterException(Objects.requireNonNull(spec).commandLine(),
          "NAME must be one of %s (was %s)%s".formatted(String.join(", ", names), wanted,
              near.isEmpty() ? "" : "; did you mean " + String.join(" or ", near) + "?"));
    });
  }
}
