package io.penstock.lab.simulate;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Progress;
import io.penstock.node.text.TextTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock simulate`: whole clusters under seeds, each proven against every invariant.
@Command(
    name = "simulate",
    description = {"Runs whole clusters in virtual time, each drawn from a seed, and checks every invariant.", "",
      "One thread runs all of it: links that stall, cut and corrupt, nodes that restart, slow readers and dying"
          + " writers.",
      "Every invariant is checked after each step.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock simulate --seeds 1..100000", "  penstock simulate --seeds 427..427 --record seeds",
      "  penstock replay seeds/seed-427.pkr", ""})
public final class SimulateCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--seeds", paramLabel = "A..B", converter = SeedRange.Converter.class, defaultValue = "1..1000",
      description = "Seeds to run, both ends included (default: ${DEFAULT-VALUE}).")
  private SeedRange seeds = new SeedRange(1, 1000);

  @Option(names = "--keep-going", description = "Goes on after a seed that broke an invariant.")
  private boolean keepGoing;

  @Option(names = "--record", paramLabel = "DIR",
      description = "Folder for recordings of seeds that broke an invariant, each a file seed-N.pkr that `penstock"
          + " replay` plays (default: a new folder among the system's temporary files). If the range is one seed and"
          + " this option is set, the seed is recorded in any case.")
  private @Nullable Path record;

  @Option(names = "--json", description = "Prints the outcome as one JSON document.")
  private boolean json;

  SimulateCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    silence();
    SimulationReport report = run();
    for (SimulationReport.Violation violation : report.violations()) {
      console.say(violation.message());
      if (violation.recording() != null) {
        console.say("play it by: penstock replay " + violation.recording());
      }
    }
    if (json) {
      console.json(report);
    } else {
      console.out().print(table(report));
    }
    return report.violations().isEmpty() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private SimulationReport run() {
    long start = System.nanoTime();
    SimulationReport report = SimulationReport.empty();
    try (Progress progress = Progress.of(console, "simulate", "seeds")) {
      soFar(progress, report, start);
      for (long seed = seeds.first(); seed <= seeds.last() && (keepGoing || report.violations().isEmpty()); seed++) {
        try {
          report = report.plus(Simulation.run(seed));
          if (record != null && seeds.count() == 1) {
            RecordedRun run = Simulation.record(recorded(seed), Sabotage.NONE);
            console.say("recorded in " + run.save(record, seed));
            ViolationException broken = run.violation();
            if (broken != null) {
              throw broken;
            }
          }
        } catch (ViolationException e) {
          report = report.plus(e, savedOrSaid(ScenarioDraw.of(seed)));
        }
        progress.at(report.seeds(), seeds.count());
        soFar(progress, report, start);
      }
    }
    return after(report, start);
  }

  /// The recording of a broken seed; null, with a word about it, if it cannot be saved.
  private @Nullable Path savedOrSaid(Scenario scenario) {
    try {
      return saved(scenario, Sabotage.NONE, record);
    } catch (UncheckedIOException e) {
      console.say("seed %d could not be recorded: %s".formatted(scenario.seed(), e.getMessage()));
      return null;
    }
  }

  private static Scenario recorded(long seed) {
    return ScenarioDraw.of(seed).withoutSalt();
  }

  /// Runs a broken seed again, recorded.
  ///
  /// @param folder null for one in the system's folder for temporary files
  /// @return the recording; null if every invariant held without the salt of the space
  static @Nullable Path saved(Scenario scenario, Sabotage sabotage, @Nullable Path folder) {
    RecordedRun run = Simulation.record(scenario.withoutSalt(), sabotage);
    if (run.violation() == null) {
      return null;
    }
    try {
      return run.save(folder == null ? Files.createTempDirectory("penstock-simulate-") : folder, scenario.seed());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void soFar(Progress progress, SimulationReport report, long start) {
    if (json) {
      progress.resultSoFar(after(report, start));
    }
  }

  private static SimulationReport after(SimulationReport report, long start) {
    return report.after((System.nanoTime() - start) / 1e9);
  }

  /// Broken connections are the point of a simulation: their log lines would hide its own.
  private static void silence() {
    for (String noisy : List.of("reactor", "io.rsocket")) {
      if (LoggerFactory.getLogger(noisy) instanceof Logger logger) {
        logger.setLevel(Level.OFF);
      }
    }
  }

  private static TextTable table(SimulationReport report) {
    return new TextTable("WHAT", "VALUE")
        .row("seeds", report.seeds())
        .row("invariants broken", report.violations().size())
        .row("requests", report.requests())
        .row("delivered and proven", report.delivered())
        .row("left by their reader", report.left())
        .row("given up after faults", report.givenUp())
        .row("connections", report.connections())
        .row("steps", report.steps())
        .row("virtual time", String.format(Locale.ROOT, "%.0f s", report.virtualSeconds()))
        .row("real time", String.format(Locale.ROOT, "%.1f s", report.elapsedSeconds()))
        .row("digest", String.format(Locale.ROOT, "%016x", report.digest()));
  }
}
