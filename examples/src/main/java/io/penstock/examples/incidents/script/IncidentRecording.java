package io.penstock.examples.incidents.script;

import io.penstock.node.play.RunDigest;
import io.penstock.node.text.Json;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordingFormatException;
import io.penstock.storage.recording.RecordingFile;
import io.penstock.storage.recording.RecordingReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/// The events of an incident. The first one says which incident it is, so that a recording is known by its content.
///
/// @param incident name of the incident
public record IncidentRecording(String incident, List<RecordedEvent> events) {
  private static final String NAME = "incident";

  public IncidentRecording {
    events = List.copyOf(events);
  }

  /// Records what `subject` makes of `inputs`.
  public static IncidentRecording record(String incident, List<RecordedEvent> inputs, Subject subject) {
    List<RecordedEvent> events = new ArrayList<>();
    events.add(Words.input(0, Kind.BEGAN, 0, Json.of(Map.of(NAME, incident)), List.of(), 0));
    for (RecordedEvent input : inputs) {
      events.add(input);
      subject.take(input, events::add);
    }
    return new IncidentRecording(incident, events);
  }

  /// The incident of a recording that begins with `first`; null if it is a recording of another kind.
  public static @Nullable String incidentOf(RecordedEvent first) {
    if (first.kind() != Kind.BEGAN) {
      return null;
    }
    try {
      String name = Json.MAPPER.readTree(first.text()).path(NAME).asString("");
      return name.isEmpty() ? null : name;
    } catch (JacksonException e) {
      return null; // other words
    }
  }

  /// Reads a file.
  ///
  /// @throws RecordingFormatException if it is no recording of an incident
  public static IncidentRecording read(Path file) {
    List<RecordedEvent> events = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(file)) {
      reader.forEachRemaining(events::add);
    }
    String incident = events.isEmpty() ? null : incidentOf(events.getFirst());
    if (incident == null) {
      throw new RecordingFormatException("first event", "one that names an incident",
          events.isEmpty() ? "none" : events.getFirst());
    }
    return new IncidentRecording(incident, events);
  }

  /// Writes all events to `file`.
  public void write(Path file) {
    RecordingFile.write(file, events.iterator());
  }

  /// The inputs, without the event that names the incident.
  public List<RecordedEvent> inputs() {
    return events.stream().filter(event -> event.begins() && event.kind() != Kind.BEGAN).toList();
  }

  /// Digest of all events, in hexadecimal digits.
  public String sha256() {
    return RunDigest.ofEvents(events);
  }
}
