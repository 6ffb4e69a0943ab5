package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.play.EventView;
import io.penstock.node.text.Plural;
import io.penstock.node.tiers.PlayedTiers;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.check.Bisection;
import io.penstock.recording.check.Rule;
import io.penstock.recording.check.Rules;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `penstock recording bisect`: finds the first event after which an invariant is broken.
@Command(
    name = "bisect",
    description = {"Finds the first event after which an invariant is broken, in at most log2(events) + 3 plays.", "",
      "Invariants:",
      "  equal      the tiers do again what was recorded",
      "  places     each visible block has a place, and the levels know of it",
      "  capacity   no level has more blocks than its capacity",
      "  wake-up    no stream waits whose bytes are there",
      "  demand, cancel, end-once, stream-ends, layers, handles, visible, store, invariant, outstanding:FLOW:N",
      "             the rules of recordings",
      "",
      "Anything with a space or a slash is a command line. It is run as 'git bisect run' runs one: the state of the"
          + " tiers after some events is written to a file as JSON, whose path is its last argument. It ends with 0"
          + " where the invariant holds, and with 1 to 124 where it is broken.",
      "Ends with 0 if the event was found, and with 1 if the invariant holds after the last event.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock recording bisect incident --with equal", "  penstock recording bisect incident --with \"jq -e"
        + " '.tiers[0].stat.evicted < 100'\"",
      ""})
final class BisectCommand implements Callable<Integer> {
  private static final int BEFORE = 8;
  private static final int AFTER = 2;
  private static final int MOST_TURN = 24;

  private final Console console;

  @Mixin
  private final RecordingPlace recording = new RecordingPlace();

  @Option(names = "--with", paramLabel = "WHAT", required = true,
      description = "Name of an invariant, or a command line.")
  private String with = "";

  /// The answer.
  ///
  /// @param event after which it is broken: the first one of its turn if the tiers were asked; null if none was found
  /// @param plays that it took
  /// @param what is broken
  /// @param context events around it
  record Report(String recording, String with, boolean found, @Nullable Long event, long plays, @Nullable String what,
      List<EventView> context) {}

  BisectCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    Search search = search();
    Recordings.requireBeginning(recording.place());
    long[] plays = new long[1];
    long events = Recordings.count(recording.place());
    try (Progressing progress = Progressing.of(console, "bisect", events)) {
      RecordingBisect bisect = new RecordingBisect(recording.place(), new PlayedTiers(), played -> {
        plays[0]++;
        progress.next("play %d of at most %d: %,d events".formatted(plays[0], most(events), played));
      });
      Optional<RecordingBisect.Found> found;
      try {
        found = search.in(bisect);
      } catch (Bisection.BrokenAtStartException e) {
        throw new DataException("%s must hold before the first event of %s (is broken there)".formatted(with,
            recording.place()), e);
      }
      show(found.map(this::report)
          .orElseGet(() -> new Report(recording.place().toString(), with, false, null, plays[0], null, List.of())));
      return found.isPresent() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
    }
  }

  private static long most(long events) {
    return Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, events)) + 3L;
  }

  /// A search for an invariant.
  private interface Search {
    Optional<RecordingBisect.Found> in(RecordingBisect bisect);
  }

  private Search search() {
    if (with.equals("equal")) {
      return RecordingBisect::equal;
    } else if (with.equals("wake-up")) {
      return RecordingBisect::wakeUp;
    } else if (with.contains(" ") || with.contains("/")) {
      return bisect -> bisect.state("the invariant of the command", new CommandInvariant(with, console));
    }
    Optional<StateInvariant> state = Stream.of(StateInvariant.values())
        .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(with)).findFirst();
    if (state.isPresent()) {
      return bisect -> bisect.state(state.get().meaning() + ": this", state.get());
    }
    Rule rule = rule();
    return bisect -> bisect.rule(rule);
  }

  private Rule rule() {
    try {
      return Rules.named(with);
    } catch (IllegalArgumentException e) {
      List<String> names = new ArrayList<>(List.of("equal", "places", "capacity", "wake-up"));
      Rules.all().forEach(rule -> names.add(rule.name()));
      throw new IllegalArgumentException("--with must be one of %s, outstanding:FLOW:N, or a command line (was %s)"
          .formatted(String.join(", ", names), with), e);
    }
  }

  private Report report(RecordingBisect.Found found) {
    List<EventView> context = new ArrayList<>();
    Recordings.read(recording.place(), reader -> {
      for (long number = 0; reader.hasNext() && number < found.end() + AFTER; number++) {
        RecordedEvent event = reader.next();
        if (number >= found.first() - BEFORE) {
          context.add(EventView.of(number, event));
        }
      }
      return true;
    });
    return new Report(recording.place().toString(), with, true, found.first(), found.plays(), found.what(), context);
  }

  private void show(Report report) {
    if (recording.json()) {
      console.json(report);
      return;
    }
    Long event = report.event();
    if (event == null) {
      console.print("%s: %s holds after the last event; %s".formatted(report.recording(), with,
          Plural.of(report.plays(), "play")));
      return;
    }
    console.print("%s: broken at event %d, found in %s".formatted(report.recording(), event,
        Plural.of(report.plays(), "play")));
    console.print("  " + report.what());
    List<EventView> context = report.context();
    for (int i = 0; i < context.size(); i++) {
      if (i == BEFORE + MOST_TURN && context.size() > BEFORE + MOST_TURN + 2 * AFTER) {
        console.print("  … %d more".formatted(context.size() - i));
        break;
      }
      EventView each = context.get(i);
      console.print("%s %9d %s%s".formatted(each.number() == event ? ">" : " ", each.number(),
          each.begins() ? "" : "  ", each.line()));
    }
  }
}
