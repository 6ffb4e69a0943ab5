package io.penstock.node.play;

import static java.util.Objects.requireNonNull;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Progress;
import io.penstock.node.play.RunDigest.Sums;
import io.penstock.node.text.Json;
import io.penstock.node.text.Plural;
import io.penstock.node.tiers.TierChange;
import io.penstock.storage.recording.RecordingReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// `penstock replay RECORDING…`: plays recordings, and says whether all that happened happened again.
public final class RecordingPlay {
  /// A recording with more bytes gets a progress.
  private static final long LONG_BYTES = 8L << 20;

  private final Console console;
  private final boolean json;
  private final List<String> lines = new ArrayList<>();

  /// Several recordings whose calls were given to changed tiers.
  record Changed(List<ChangeReport> recordings) {}

  /// Several recordings that were played.
  ///
  /// @param sha256 of the runs, in the order of the recordings
  /// @param equal whether each of them was equal, and each link
  /// @param links between them
  /// @param recordings a [PlayReport] each; a [Repeated] each if they were played several times
  record Whole(String sha256, boolean equal, PlayedLinks links, List<?> recordings) {}

  /// Several runs of a recording.
  ///
  /// @param equal whether all runs were equal to the recording, and so to each other
  /// @param runs the SHA-256 of each run
  /// @param last the report of the last run
  record Repeated(boolean equal, List<String> runs, PlayReport last) {}

  /// Recordings that were played.
  ///
  /// @param exitCode of the command
  /// @param isGood whether all that happened happened again
  /// @param json the report
  /// @param lines the report for people
  public record Played(int exitCode, boolean isGood, String json, List<Path> recordings, List<String> lines) {}

  private RecordingPlay(Console console, boolean json) {
    this.console = console;
    this.json = json;
  }

  /// The recordings in `place`: itself, or its sub-folders, in the order of their names; none if it is no recording.
  public static List<Path> recordings(Path place) {
    if (RecordingReader.isRecording(place)) {
      return List.of(place);
    } else if (!Files.isDirectory(place)) {
      return List.of();
    }
    try (Stream<Path> inside = Files.list(place)) {
      return inside.filter(RecordingReader::isRecording).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Plays the recordings of `places`.
  ///
  /// @param speed 0 for virtual time, 1 for the recorded time
  public static Played play(List<Path> places, PlayFlags flags, double speed, Console console, boolean json) {
    PlayPlan plan = flags.plan(speed);
    TierChange change = flags.change();
    List<Path> all = new ArrayList<>();
    for (Path place : places) {
      List<Path> more = recordings(place);
      if (more.isEmpty()) {
        throw new DataException("%s must be a recording, or a folder of recordings (is none)".formatted(place));
      }
      all.addAll(more);
    }
    RecordingPlay play = new RecordingPlay(console, json);
    return change == null ? play.play(all, plan) : play.change(all, change);
  }

  private Played play(List<Path> recordings, PlayPlan plan) {
    boolean equal = true;
    Object document;
    List<PlayReport> reports = new ArrayList<>();
    List<Object> documents = new ArrayList<>();
    for (Path recording : recordings) {
      List<String> runs = new ArrayList<>();
      PlayReport report = null;
      for (int i = 0; i < plan.times(); i++) {
        report = run(recording, plan);
        runs.add(report.played().sha256());
        equal &= report.isEqual() && runs.getFirst().equals(runs.getLast());
      }
      reports.add(requireNonNull(report));
      documents.add(plan.times() == 1
          ? report
          : new Repeated(report.isEqual() && Set.copyOf(runs).size() == 1, runs, report));
      show(report, runs);
    }
    if (recordings.size() == 1) {
      document = documents.getFirst();
    } else {
      PlayedLinks links = PlayedLinks.of(recordings);
      equal &= links.isEqual();
      Whole whole =
          new Whole(RunDigest.ofRuns(reports.stream().map(report -> report.played().sha256()).toList()), equal,
              links, documents);
      document = whole;
      if (links.links() > 0) {
        links.differences().forEach(this::print);
        print(links.text());
      }
      print("%s: %s; SHA-256 %s".formatted(Plural.of(reports.size(), "recording"),
          equal ? "all equal to what was recorded" : "DIFFERENT", whole.sha256()));
    }
    return played(recordings, document, equal);
  }

  private Played played(List<Path> recordings, Object document, boolean isGood) {
    if (json) {
      console.json(document);
    }
    return new Played(isGood ? ExitCode.OK : ExitCode.FOUND_FAILURE, isGood, Json.of(document) + "\n",
        recordings, List.copyOf(lines));
  }

  /// Notes a line for the report, and prints it unless the result is JSON.
  private void print(String line) {
    lines.add(line);
    if (!json) {
      console.print(line);
    }
  }

  private PlayReport run(Path recording, PlayPlan plan) {
    PlayReport report;
    if (bytes(recording) < LONG_BYTES) {
      report = new PlayedRun(recording, plan, new SystemClock(), events -> {}).play();
    } else {
      long all = count(recording);
      try (Progress progress = Progress.of(console, "replay", "events")) {
        LongConsumer shown = events -> progress.at(events, all);
        report = new PlayedRun(recording, plan, new SystemClock(), shown).play();
      }
    }
    if (report.turns() == 0 && report.stop() == null) {
      throw new DataException("recording %s must have its beginning (is missing)".formatted(recording));
    }
    return report;
  }

  private static long bytes(Path recording) {
    try (Stream<Path> files = Files.walk(recording)) {
      long bytes = 0;
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        bytes += Files.size(file);
      }
      return bytes;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long count(Path recording) {
    long events = 0;
    try (RecordingReader reader = RecordingReader.open(recording)) {
      for (; reader.hasNext(); events++) {
        reader.next();
      }
    }
    return events;
  }

  private void show(PlayReport report, List<String> runs) {
    print("recording %s: %,d turns, %,d events, %,d flows played".formatted(report.recording(), report.turns(),
        report.events(), report.flows()));
    print(report.payloads()
        ? "bytes of blocks are compared, too"
        : "bytes of blocks were not recorded: they are made from the keys");
    if (report.gap()) {
      print("%,d events were played; behind them events are missing: they were left out, lost or damaged".formatted(
          report.events()));
    }
    PlayReport.Stop stop = report.stop();
    if (stop != null) {
      print("stopped before event %d, %s after the first: %s".formatted(stop.event(),
          PlayText.seconds(stop.nanos()), stop.begin().line()));
    }
    PlayReport.Flow flow = report.flow();
    if (flow != null) {
      flow.events().forEach(event -> print("  %d  %s".formatted(event.number(), event.line())));
      print("flow %s: %s; SHA-256 of its events %s".formatted(flow.name(),
          flow.isEqual() ? "equal to what was recorded" : "DIFFERENT", flow.recorded()));
    }
    report.state().forEach(state -> print(TierWatch.text(state)));
    report.broken().forEach(broken -> print("BROKEN: rule %s%s: %s".formatted(broken.rule(),
        broken.event() == null ? "" : " at event " + broken.event(), broken.what())));
    DifferenceView difference = report.difference();
    if (difference != null) {
      difference.lines().forEach(this::print);
      sums("recorded", report.recorded());
      sums("played", report.played());
    } else {
      print((report.recorded().equals(report.played()) ? "equal to what was recorded" : "DIFFERENT")
          + (report.gap() ? " up to the gap" : "") + "; SHA-256 " + report.played().sha256());
      sums(null, report.played());
    }
    if (runs.size() > 1) {
      int kinds = new TreeSet<>(runs).size();
      print(kinds == 1
          ? "%,d runs: SHA-256 equal in all of them".formatted(runs.size())
          : "DIFFERENT: %,d runs had %,d SHA-256s".formatted(runs.size(), kinds));
    }
  }

  private void sums(@Nullable String whose, Sums sums) {
    String before = whose == null ? "  " : "  %-9s".formatted(whose);
    print(before + "outputs   " + sums.outputs());
    print(before + "flows     " + sums.flows());
    print(before + "decisions " + sums.decisions());
  }

  private Played change(List<Path> recordings, TierChange change) {
    List<ChangeReport> reports = new ArrayList<>();
    for (Path recording : recordings) {
      ChangeReport report = ChangedRun.compare(recording, change);
      reports.add(report);
      print(report.text());
    }
    return played(recordings, reports.size() == 1 ? reports.getFirst() : new Changed(reports), true);
  }

  /// The clock of the process.
  private static final class SystemClock implements PlayedRun.Clock {
    @Override
    public long getAsLong() {
      return System.nanoTime();
    }

    @Override
    public void await(long nanos) {
      for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
        LockSupport.parkNanos(left);
        if (Thread.interrupted()) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }
}
