package io.penstock.examples.incidents.script;

import io.penstock.recording.EventCodec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordingFormatException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/// The events of an incident. The first one says which incident it is, so that a file is known by its content.
///
/// A file is a line of text and the events behind it, as [EventCodec] writes them.
///
/// @param incident name of the incident
public record IncidentRecording(String incident, List<RecordedEvent> events) {
  private static final String BEGAN = "incident ";
  private static final byte[] HEAD = "penstock incident, format 1\n".getBytes(StandardCharsets.US_ASCII);

  public IncidentRecording {
    events = List.copyOf(events);
  }

  /// Records what `subject` makes of `inputs`.
  public static IncidentRecording record(String incident, List<RecordedEvent> inputs, Subject subject) {
    List<RecordedEvent> events = new ArrayList<>();
    events.add(Words.input(0, Kind.BEGAN, 0, BEGAN + incident, List.of()));
    for (RecordedEvent input : inputs) {
      events.add(input);
      subject.take(input, events::add);
    }
    return new IncidentRecording(incident, events);
  }

  /// The inputs, without the event that names the incident.
  public List<RecordedEvent> inputs() {
    return events.stream().filter(event -> event.begins() && event.kind() != Kind.BEGAN).toList();
  }

  public byte[] toBytes() {
    int most = HEAD.length + events.stream().mapToInt(EventCodec::mostBytes).sum();
    ByteBuffer bytes = ByteBuffer.allocate(most).put(HEAD);
    events.forEach(event -> EventCodec.write(event, bytes));
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  /// @throws RecordingFormatException if the bytes are no recording of an incident
  public static IncidentRecording of(byte[] file) {
    if (file.length < HEAD.length || !Arrays.equals(file, 0, HEAD.length, HEAD, 0, HEAD.length)) {
      throw new RecordingFormatException("head", "that of an incident, format 1", "another");
    }
    ByteBuffer bytes = ByteBuffer.wrap(file, HEAD.length, file.length - HEAD.length);
    List<RecordedEvent> events = new ArrayList<>();
    while (bytes.hasRemaining()) {
      events.add(EventCodec.read(bytes));
    }
    String began = events.isEmpty() ? "" : events.getFirst().text();
    if (!began.startsWith(BEGAN) || events.getFirst().kind() != Kind.BEGAN) {
      throw new RecordingFormatException("first event", "the name of an incident", events.isEmpty() ? "none" : began);
    }
    return new IncidentRecording(began.substring(BEGAN.length()), events);
  }

  /// Digest of all events, in hexadecimal digits.
  public String sha256() {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(toBytes()));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("the JDK must have SHA-256", e);
    }
  }
}
