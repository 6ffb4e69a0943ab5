package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.play.EventView;
import io.penstock.node.play.TurnTime;
import io.penstock.recording.RecordedEvent;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `penstock recording dump`: prints events.
@Command(
    name = "dump",
    description = {"Prints the events of a recording: number, seconds after the first, and what happened.", "",
      "Events that a turn made stand below it, indented. Ends with 1 if no event is chosen.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock recording dump incident --kind evicted,lost --from 2s", "  penstock recording dump incident"
        + " --flow 4711 --json",
      ""})
final class DumpCommand implements Callable<Integer> {
  private final Console console;

  @Mixin
  private final RecordingPlace recording = new RecordingPlace();

  @Mixin
  private final EventFilter filter = new EventFilter();

  DumpCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    Printing printing = new Printing(filter.begin());
    Recordings.forEach(recording.place(), console, "dump", printing);
    printing.chosen.requireFlow();
    if (printing.printed == 0) {
      console.say("no event was chosen");
    }
    return printing.printed == 0 ? ExitCode.FOUND_FAILURE : ExitCode.OK;
  }

  private final class Printing implements Recordings.Visitor {
    private final EventFilter.Chosen chosen;
    private final TurnTime time = new TurnTime();
    private long printed;

    Printing(EventFilter.Chosen chosen) {
      this.chosen = chosen;
    }

    @Override
    public void visit(long number, RecordedEvent event) {
      long since = time.of(event);
      if (!chosen.has(number, since, event)) {
        return;
      }
      printed++;
      if (recording.json()) {
        console.json(EventView.of(number, event));
      } else {
        console.print(EventFilter.line(number, since, event));
      }
    }
  }
}
