package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.OutputFile;
import io.penstock.node.play.FlowFamily;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `penstock recording waterfall`: shows one request in time.
@Command(
    name = "waterfall",
    description = {"Shows one request in time, from its lease to its last slice: what waited where.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock recording waterfall incident --request 17", "  penstock recording waterfall incident"
        + " --key 5f0c --html request.html --svg request.svg",
      ""})
final class WaterfallCommand implements Callable<Integer> {
  private final Console console;

  @Mixin
  private final RecordingPlace recording = new RecordingPlace();

  @ArgGroup(exclusive = true, multiplicity = "1")
  private Which which = new Which();

  @Option(names = "--svg", paramLabel = "FILE", description = "Write a picture there.")
  private @Nullable Path svg;

  @Option(names = "--html", paramLabel = "FILE", description = "Write a page with the picture and all figures there.")
  private @Nullable Path html;

  /// Which request is shown.
  static final class Which {
    @Option(names = "--request", paramLabel = "N", description = "The N-th lease of the recording, from 0.")
    private @Nullable Long request;

    @Option(names = "--flow", paramLabel = "N", description = "The lease that this flow is, or came from.")
    private @Nullable Long flow;

    @Option(names = "--key", paramLabel = "PREFIX",
        description = "The first lease of a key whose hash begins so, in hexadecimal.")
    private @Nullable String key;

    String words() {
      return request != null ? "--request " + request : flow != null ? "--flow " + flow : "--key " + key;
    }
  }

  WaterfallCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    Path picture = svg;
    Path page = html;
    OutputFile pictureFile = picture == null ? null : OutputFile.of("--svg", picture);
    OutputFile pageFile = page == null ? null : OutputFile.of("--html", page);
    WaterfallReading reading = new WaterfallReading(lease());
    Recordings.forEach(recording.place(), console, "waterfall", reading);
    Waterfall waterfall = reading.waterfall(recording.place().toString());
    if (waterfall == null) {
      throw unknown();
    }
    if (pictureFile != null) {
      write(pictureFile, WaterfallText.svg(waterfall));
    }
    if (pageFile != null) {
      write(pageFile, WaterfallText.html(waterfall));
    }
    if (recording.json()) {
      console.json(waterfall);
    } else {
      console.print(WaterfallText.text(waterfall));
    }
    return ExitCode.OK;
  }

  private void write(OutputFile file, String content) throws IOException {
    file.write(content.getBytes(StandardCharsets.UTF_8));
    console.say("written to " + file);
  }

  private IllegalArgumentException unknown() {
    return new IllegalArgumentException("%s must name a request of the recording (names none)".formatted(
        which.words()));
  }

  private static boolean has(RecordedEvent event, String prefix) {
    return event.keys().stream().anyMatch(key -> key.hash().toString().startsWith(prefix));
  }

  /// Flow of the lease.
  private long lease() {
    String prefix = which.key == null ? null : which.key.strip().toLowerCase(Locale.ROOT);
    if (prefix != null && !prefix.matches("[0-9a-f]{1,32}")) {
      throw new IllegalArgumentException("--key must be 1 to 32 hexadecimal digits (was " + which.key + ")");
    }
    return Recordings.read(recording.place(), reader -> {
      FlowFamily family = new FlowFamily();
      long number = 0;
      while (reader.hasNext()) {
        RecordedEvent event = reader.next();
        family.add(event);
        boolean begins = event.kind() == Kind.LEASE || event.kind() == Kind.READ;
        if (which.flow != null && event.flow() == which.flow) {
          return family.eldest(event.flow());
        } else if (begins && ((which.request != null && which.request == number)
            || (prefix != null && has(event, prefix)))) {
          return event.flow();
        }
        number += begins ? 1 : 0;
      }
      throw unknown();
    });
  }
}
