package io.penstock.node.client;

import io.penstock.block.BlockKey;
import io.penstock.check.Checks;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.tier.TierEvent;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;

/// Follows the events of a node's blocks.
@Command(
    name = "events",
    description = {"Prints the events of a node's blocks, past and coming, one a line.", "",
      "--timeout bounds the connection alone: the wait for the next event has no bound.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock events --from 1 --limit 100 --json", "  penstock events --snapshot", ""})
final class EventsCommand extends ClientCommand {
  private static final int AHEAD = 256;

  @ArgGroup
  private @Nullable Start start;

  private static final class Start {
    @Option(names = "--from", paramLabel = "SEQUENCE", defaultValue = "1",
        description = "First event wanted; older ones that are no longer kept are reported as skipped. Not with"
            + " --cluster, where nothing past is kept (default: ${DEFAULT-VALUE}).")
    private long from;

    @Option(names = "--snapshot",
        description = "Print the visible blocks with their levels first, and again after each gap.")
    private boolean snapshot;
  }

  @Option(names = "--limit", paramLabel = "N", defaultValue = "0",
      description = "Number of events after which the command ends; 0 for no end.")
  private long limit;

  EventsCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) {
    if (start != null && !start.snapshot && start.from < 1) {
      throw new IllegalArgumentException("--from must be >= 1 (was " + start.from + ")");
    }
    if (start != null && !start.snapshot && isOverCluster()) {
      throw new IllegalArgumentException("--from must be left out with --cluster, which keeps nothing past (was "
          + start.from + ")");
    }
    Checks.notNegative("--limit", limit);
    return this::follow;
  }

  private int follow(NodeLink node) {
    Flux<TierEvent> events = start == null
        ? node.tier().events(0)
        : start.snapshot ? node.tier().follow() : node.tier().events(start.from - 1);
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
      console.print(String.join("  ", line.values().stream().map(EventsCommand::word).toList()));
    }
  }

  private static Map<String, Object> line(TierEvent event) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("sequence", event.sequence());
    switch (event) {
      case TierEvent.Stored stored -> put(line, "stored", stored.key(), stored.levels());
      case TierEvent.Present present -> put(line, "present", present.key(), present.levels());
      case TierEvent.Evicted evicted -> put(line, "evicted", evicted.key(), evicted.levels());
      case TierEvent.Removed removed -> put(line, "removed", removed.key(), removed.levels());
      case TierEvent.Moved moved -> {
        put(line, "moved", moved.key(), moved.from());
        line.put("to", moved.to());
      }
      case TierEvent.Lost lost -> {
        put(line, "lost", lost.key(), lost.levels());
        line.put("reason", lost.reason());
      }
      case TierEvent.LevelDown down -> {
        put(line, "levelDown", List.of(down.level()));
        line.put("reason", down.reason());
      }
      case TierEvent.LevelUp up -> put(line, "levelUp", List.of(up.level()));
      case TierEvent.Skipped skipped -> {
        line.put("type", "skipped");
        line.put("count", skipped.count());
      }
      case TierEvent.SnapshotStarted snapshot -> {
        line.put("type", "snapshot");
        line.put("down", snapshot.down());
      }
      case TierEvent.SnapshotEnded snapshot -> line.put("type", "snapshotEnd");
      case TierEvent.SessionEnded ended -> {
        line.put("type", "sessionEnded");
        line.put("session", ended.session().toString());
      }
    }
    return line;
  }

  private static void put(Map<String, Object> line, String type, BlockKey key, List<TierEvent.Level> levels) {
    line.put("type", type);
    line.put("key", key.toString());
    line.put("levels", levels);
  }

  private static void put(Map<String, Object> line, String type, List<TierEvent.Level> levels) {
    line.put("type", type);
    line.put("levels", levels);
  }

  /// A value for people: of levels their names.
  private static String word(Object value) {
    return value instanceof List<?> levels
        ? levels.stream().map(level -> ((TierEvent.Level) level).name()).collect(Collectors.joining("+"))
        : value.toString();
  }
}
