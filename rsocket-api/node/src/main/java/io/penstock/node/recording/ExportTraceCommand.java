package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.text.Plural;
import io.penstock.node.trace.Conversation;
import io.penstock.node.trace.TraceWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `penstock recording export-trace`: writes the requests of a recording as a trace.
@Command(
    name = "export-trace",
    description = {"Writes the requests of a recording as a trace, which 'penstock replay', 'plan' and 'sweep' read.",
      "",
      "A request is a lease: the blocks that one caller asked for. Hashes become numbers, in the order in which they"
          + " appear. A recording does not know tokens: a block counts as the 512 tokens of the form.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock recording export-trace incident trace.jsonl", "  penstock replay trace.jsonl --policy lru"
        + " --dram '50 blocks'",
      ""})
final class ExportTraceCommand implements Callable<Integer> {
  private final Console console;

  @Mixin
  private final RecordingPlace recording = new RecordingPlace();

  @Parameters(index = "1", paramLabel = "OUT", description = "The file to be made; packed if its name ends in .gz.")
  private Path out = Path.of("");

  @Option(names = "--form", paramLabel = "FORM",
      description = "mooncake: one line a request; aiperf: each with its session, as its hashes tell (default:"
          + " ${DEFAULT-VALUE}).",
      defaultValue = "mooncake")
  private String form = "";

  @Option(names = "--tier", paramLabel = "N", description = "Number of the tier (default: ${DEFAULT-VALUE}).",
      defaultValue = "0")
  private int tier;

  /// @param hits blocks that the recorded tier answered as hits
  record Report(String file, long requests, long blocks, long hits) {}

  ExportTraceCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    boolean hasSessions = switch (form.toLowerCase(Locale.ROOT)) {
      case "mooncake" -> false;
      case "aiperf" -> true;
      default -> throw new IllegalArgumentException("--form must be mooncake or aiperf (was " + form + ")");
    };
    Recordings.requireNew(out);
    Recordings.requireBeginning(recording.place());
    LeaseRequests requests = new LeaseRequests(tier, Conversation.BLOCK_TOKENS);
    requireRequests();
    try (TraceWriter writer = TraceWriter.create(out)) {
      Recordings.forEach(recording.place(), console, "export-trace", (number, event) -> {
        LeaseRequests.Request request = requests.of(event);
        if (request != null) {
          writer.write(request.request(), hasSessions ? "session-" + request.session() : null);
        }
      });
    }
    Report report = new Report(out.toString(), requests.requests(), requests.blocks(), requests.hits());
    if (recording.json()) {
      console.json(report);
    } else {
      console.print("%s: %s, %,d blocks; the recorded tier had %,d hits".formatted(report.file(),
          Plural.of(report.requests(), "request"), report.blocks(), report.hits()));
    }
    return ExitCode.OK;
  }

  /// @throws DataException if the tier has no request: a trace without one is none
  private void requireRequests() {
    boolean has = Recordings.read(recording.place(), reader -> {
      LeaseRequests requests = new LeaseRequests(tier, Conversation.BLOCK_TOKENS);
      while (reader.hasNext()) {
        if (requests.of(reader.next()) != null) {
          return true;
        }
      }
      return false;
    });
    if (!has) {
      throw new DataException("recording %s must have requests of tier %d (has none)".formatted(recording.place(),
          tier));
    }
  }
}
