package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.play.FlowFamily;
import io.penstock.node.play.TurnTime;
import io.penstock.node.report.Escape;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The report of `penstock replay RECORDING` as one page: the outcome, and waterfalls of the slowest requests and of
/// the first ones. It loads nothing and runs no script.
public final class RecordingPage {
  private static final int SLOWEST = 5;
  private static final int FIRST = 3;

  private RecordingPage() {}

  /// The whole page.
  ///
  /// @param isGood whether all that happened happened again
  /// @param outcome the lines of the report; any text, it is escaped
  public static String of(List<Path> recordings, boolean isGood, List<String> outcome, Console console) {
    StringBuilder body = new StringBuilder("<h1>%s</h1>%n<pre>%n".formatted(isGood
        ? "✓ Played as it was recorded"
        : "✗ Not played as it was recorded"));
    outcome.forEach(line -> body.append(Escape.html(line)).append('\n'));
    body.append("</pre>\n");
    recordings.forEach(recording -> body.append(requests(recording, console)));
    return WaterfallText.page("Recording " + recordings.getFirst(), body.toString());
  }

  private static String requests(Path recording, Console console) {
    List<Lease> leases = leases(recording, console);
    StringBuilder html = new StringBuilder("<h2>Requests of %s</h2>%n".formatted(Escape.html(recording.toString())));
    if (leases.isEmpty()) {
      return html.append("<p>The recording has no request.</p>\n").toString();
    }
    List<Lease> slowest =
        leases.stream().sorted(Comparator.comparingLong(Lease::nanos).reversed()).limit(SLOWEST).toList();
    List<Lease> first = leases.stream().filter(lease -> !slowest.contains(lease)).limit(FIRST).toList();
    Map<Lease, WaterfallReading> readings = new LinkedHashMap<>();
    slowest.forEach(lease -> readings.put(lease, new WaterfallReading(lease.flow)));
    first.forEach(lease -> readings.put(lease, new WaterfallReading(lease.flow)));
    Recordings.forEach(recording, console, "report",
        (number, event) -> readings.values().forEach(reading -> reading.visit(number, event)));
    readings.forEach((lease, reading) -> {
      Waterfall waterfall = reading.waterfall(recording.toString());
      if (waterfall != null) {
        html.append("<h3>%s</h3>%n".formatted(slowest.contains(lease)
            ? "One of the slowest: request " + waterfall.request()
            : "One of the first: request " + waterfall.request())).append(WaterfallText.section(waterfall, 4));
      }
    });
    return html.toString();
  }

  /// A request, and its time from the lease to its newest element.
  private static final class Lease {
    private final long flow;
    private final long began;
    private long last;

    Lease(long flow, long began) {
      this.flow = flow;
      this.began = began;
      this.last = began;
    }

    long nanos() {
      return last - began;
    }
  }

  private static List<Lease> leases(Path recording, Console console) {
    Map<Long, Lease> leases = new LinkedHashMap<>();
    FlowFamily family = new FlowFamily();
    TurnTime time = new TurnTime();
    Recordings.forEach(recording, console, "report", (number, event) -> {
      long since = time.of(event);
      family.add(event);
      if (event.kind() == Kind.LEASE || event.kind() == Kind.READ) {
        leases.put(event.flow(), new Lease(event.flow(), since));
      } else if (isAnswer(event)) {
        Lease lease = leases.get(family.eldest(event.flow()));
        if (lease != null) {
          lease.last = since;
        }
      }
    });
    return new ArrayList<>(leases.values());
  }

  private static boolean isAnswer(RecordedEvent event) {
    return switch (event.kind()) {
      case LEASED, WINDOW, SLICE, BLOCK_LIST -> true;
      default -> false;
    };
  }
}
