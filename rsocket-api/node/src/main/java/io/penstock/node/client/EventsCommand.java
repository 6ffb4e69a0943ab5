package io.penstock.node.client;

import io.penstock.check.Checks;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeConfig;
import io.penstock.tier.TierEvent;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;

/// Follows what happens to a node's blocks.
@Command(
    name = "events",
    description = {"Prints the events of a node's blocks, past and coming, one a line.", "",
      "--timeout bounds the connection alone: the wait for the next event has no bound.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock events --from 1 --limit 100 --json", ""})
final class EventsCommand extends ClientCommand {
  private static final int AHEAD = 256;

  @Option(names = "--from", paramLabel = "SEQUENCE", defaultValue = "1",
      description = "First event wanted; older ones that are no longer kept are reported as skipped (default:"
          + " ${DEFAULT-VALUE}).")
  private long from;

  @Option(names = "--limit", paramLabel = "N", defaultValue = "0",
      description = "Number of events after which the command ends; 0 for no end.")
  private long limit;

  EventsCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) {
    if (from < 1) {
      throw new IllegalArgumentException("--from must be >= 1 (was " + from + ")");
    }
    Checks.notNegative("--limit", limit);
    return this::follow;
  }

  private int follow(NodeLink node) {
    Flux<TierEvent> events = node.tier().events(from - 1);
    for (TierEvent event : (limit == 0 ? events : events.take(limit, true)).toIterable(AHEAD)) {
      print(event);
    }
    return ExitCode.OK;
  }

  private void print(TierEvent event) {
    Map<String, Object> line = line(event);
    if (isJson()) {
      console.json(line);
    } else {
      console.print(String.join("  ", line.values().stream().map(String::valueOf).toList()));
    }
  }

  private static Map<String, Object> line(TierEvent event) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("sequence", event.sequence());
    switch (event) {
      case TierEvent.Stored stored -> put(line, "stored", "key", stored.key());
      case TierEvent.Evicted evicted -> put(line, "evicted", "key", evicted.key());
      case TierEvent.Removed removed -> put(line, "removed", "key", removed.key());
      case TierEvent.Lost lost -> {
        put(line, "lost", "key", lost.key());
        line.put("reason", lost.reason());
      }
      case TierEvent.Skipped skipped -> put(line, "skipped", "count", skipped.count());
    }
    return line;
  }

  private static void put(Map<String, Object> line, String type, String name, Object value) {
    line.put("type", type);
    line.put(name, value instanceof Number ? value : value.toString());
  }
}
