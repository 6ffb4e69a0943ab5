package io.penstock.examples.recorded;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.recording.MemoryRecording;
import io.penstock.recording.RecordedEvent;
import io.penstock.storage.recording.RecordingFile;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock example recorded`.
@Command(name = "recorded", mixinStandardHelpOptions = true,
    description = "Records the flows of a pipeline and the decisions of its tier in memory, and verifies rules over"
        + " them, as a test of your own would.",
    footer = {"", "Examples:", "  penstock example recorded --events 20", "  penstock example recorded --save run.pkr",
      "  penstock replay run.pkr"})
public final class RecordedCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--events", paramLabel = "N", defaultValue = "0",
      description = "Prints the first N events (default: ${DEFAULT-VALUE}).")
  private int shown;

  @Option(names = "--save", paramLabel = "FILE", description = "Saves the recording, for `penstock replay FILE`.")
  private @Nullable Path save;

  public RecordedCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    MemoryRecording recording = Recorded.run();
    List<RecordedEvent> events = recording.events();
    events.stream().limit(shown).map(RecordedEvent::toString).forEach(console::print);
    try {
      Recorded.verify(recording);
    } catch (AssertionError e) {
      console.say(String.valueOf(e.getMessage()));
      return ExitCode.FOUND_FAILURE;
    }
    console.print("recorded: %d events, every rule kept".formatted(events.size()));
    if (save != null) {
      RecordingFile.write(save, events.iterator());
      console.print("saved as " + save);
    }
    return ExitCode.OK;
  }
}
