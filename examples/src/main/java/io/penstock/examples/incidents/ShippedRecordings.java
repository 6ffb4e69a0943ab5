package io.penstock.examples.incidents;

import io.penstock.examples.incidents.script.IncidentRecording;
import io.penstock.node.cli.TemporaryFolder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/// The recordings that are shipped, and what is expected of each: its digest, and the event that broke the promise.
final class ShippedRecordings {
  private static final String EXPECTED = "expected.txt";

  private final Map<String, Expected> expected = new HashMap<>();

  /// @param event number of the event that broke the promise
  /// @param sha256 digest of all events
  record Expected(int event, String sha256) {}

  ShippedRecordings() throws IOException {
    try (InputStream in = resource(EXPECTED)) {
      for (String line : new String(in.readAllBytes(), StandardCharsets.US_ASCII).lines().toList()) {
        String[] words = line.split(" ");
        expected.put(words[0], new Expected(Integer.parseInt(words[1]), words[2]));
      }
    }
  }

  Expected expected(String incident) {
    return Objects.requireNonNull(expected.get(incident), incident);
  }

  /// The recording of `incident`.
  IncidentRecording recording(String incident) throws IOException {
    try (TemporaryFolder folder = TemporaryFolder.create("penstock-incident-");
        InputStream in = resource(fileOf(incident))) {
      Path file = folder.path().resolve(fileOf(incident));
      Files.copy(in, file);
      return IncidentRecording.read(file);
    }
  }

  /// Name of the file with the recording of `incident`.
  static String fileOf(String incident) {
    return incident + ".recording";
  }

  private static InputStream resource(String name) {
    return Objects.requireNonNull(ShippedRecordings.class.getResourceAsStream(name), name);
  }
}
