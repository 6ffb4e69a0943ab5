package io.penstock.node.recording;

import java.nio.file.Path;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// The arguments of each command about one recording.
final class RecordingPlace {
  @Parameters(index = "0", paramLabel = "DIR", description = "The recording: a folder, or a recording in one file.")
  private Path place = Path.of(".");

  @Option(names = "--json", description = "Print JSON instead of text.")
  private boolean json;

  Path place() {
    return place;
  }

  boolean json() {
    return json;
  }
}
