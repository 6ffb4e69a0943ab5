package io.penstock.lab.attack;

import static java.util.Objects.requireNonNull;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.link.HostPort;
import io.penstock.node.link.OtherShape;
import io.penstock.node.option.SettingOptions;
import io.penstock.node.option.SizeOption;
import io.penstock.node.option.TimeOption;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.Topic;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Reason;
import io.penstock.node.text.TextTable;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `penstock attack`: what operators run before they open a port.
@Command(
    name = "attack",
    description = {"Attacks a running node and shows what a well-behaved client notices.",
      "",
      "First the good client keeps blocks in the node and measures it quiet. Then each kind of attack is played alone, "
          + "and mixes of them for the rest of the time, while the good client puts and gets and compares every byte, "
          + "and newcomers connect. The attackers come from the address of the good client, over every transport of "
          + "the node. After each attack its connections are closed, and the node must soon hold as little as before. "
          + "The command has neither TLS nor credentials, so it needs a node without them.",
      "",
      "An attack that broke nothing but a bound on the slowest call is played again, after a quiet phase of its own: "
          + "another process may have had the processor.",
      "",
      "Ends with 1 if a bound broke: a slowest put or get above 50 ms and above 5 times the quiet one, less than 0.9 "
          + "of the blocks kept, a failed call or a wrong byte, something given to a stranger, "
          + "something held 10 s after an attack, or, with --admin, "
          + "resident memory above the quiet one plus the node's budget plus 256 MiB.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock attack 127.0.0.1:7733 --admin 127.0.0.1:7780 --minutes 10",
      "  penstock attack 127.0.0.1:7733 --kinds idle-gets,idle-puts --json", ""})
public final class AttackCommand implements Callable<Integer> {
  /// The layout, which node and client must both state.
  private static final Topic LAYOUT = new Topic("Model and blocks", LayoutSettings.ALL);
  private static final List<Setting<?>> SETTINGS = LayoutSettings.ALL;
  private static final double SHORTEST_MINUTES = 0.02;
  private static final double LONGEST_MINUTES = 1440;
  /// Maximum number of keys that the good client keeps: it asks for all of them at once.
  private static final long MOST_KEPT = 65_536;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Console console;

  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Parameters(paramLabel = "HOST:PORT", converter = HostPort.Converter.class,
      description = "The node to attack.")
  private @Nullable HostPort address;

  @Option(names = "--minutes", paramLabel = "N", defaultValue = "1",
      description = "How long, not counting the time that the node needs to recover (default: ${DEFAULT-VALUE}).")
  private double minutes;

  @Option(names = "--kinds", paramLabel = "KIND", split = ",", converter = AttackKind.Converter.class,
      description = "Which attacks, with commas between them (default: all). `mix` is up to three of the others at a "
          + "time. The others are colliding-keys, idle-gets, crowded-gets, slow-gets, unread-gets, idle-puts, "
          + "silent-puts, stuck-puts, trickling-puts, nested-tags, registry-strangers, hello-probes, doors, "
          + "unknown-admits, key-floods, idle-events, unfinished-frames, idle-connections and bad-frames.")
  private List<AttackKind> kinds = List.of();

  @Option(names = "--over", paramLabel = "TRANSPORT", split = ",",
      description = "Transports of the attackers, with commas between them: tcp, uds, ws (default: all that the node "
          + "tells). Each connection draws one.")
  private List<String> over = List.of();

  @Option(names = "--seed", paramLabel = "S", defaultValue = "1",
      description = "Seed of all random choices (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(names = "--admin", paramLabel = "HOST:PORT", converter = HostPort.Converter.class,
      description = "The node's admin endpoints: memory, streams and connections are looked at, too.")
  private @Nullable HostPort admin;

  @Option(names = "--fill", paramLabel = "SIZE", defaultValue = "1GiB", converter = SizeOption.class,
      description = "Maximum number of bytes that the good client keeps in the node (default: "
          + "${DEFAULT-VALUE}). A node that is not full has room to give away.")
  private long fill;

  @Option(names = "--timeout", paramLabel = "DURATION", defaultValue = "10s", converter = TimeOption.class,
      description = "Longest wait of the good client for an answer (default: ${DEFAULT-VALUE}).")
  private Duration timeout = PATIENCE;

  @Option(names = "--anywhere", description = "Attack a node that is not on this host.")
  private boolean anywhere;

  @Option(names = "--json", description = "Print the outcome as one JSON document.")
  private boolean json;

  private AttackCommand(Console console) {
    this.console = console;
  }

  /// The command with an option for every setting of the layout.
  public static CommandLine line(Console console) {
    CommandLine line = new CommandLine(new AttackCommand(console));
    SettingOptions.addTo(line.getCommandSpec(), LAYOUT);
    line.getCommandSpec().usageMessage().abbreviateSynopsis(true);
    return line;
  }

  @Override
  public Integer call() throws UnknownHostException {
    HostPort node = requireNonNull(address);
    requireSense(node);
    NodeConfig config = NodeConfig.resolve(null, console.environment(),
        SettingOptions.given(spec.commandLine().getParseResult(), SETTINGS));
    AttackReport report = attacked(node, config);
    if (json) {
      console.json(report);
    } else {
      console.out().print(table(report));
    }
    report.phases().stream().filter(phase -> !phase.held()).forEach(this::explain);
    console.requireHeard();
    return report.held() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private void requireSense(HostPort node) throws UnknownHostException {
    if (!(minutes >= SHORTEST_MINUTES && minutes <= LONGEST_MINUTES)) {
      throw new IllegalArgumentException("--minutes must be from %s to %s (was %s)".formatted(SHORTEST_MINUTES,
          Math.round(LONGEST_MINUTES), minutes));
    }
    if (!anywhere && !InetAddress.getByName(node.host()).isLoopbackAddress()) {
      throw new IllegalArgumentException(
          "--anywhere must be given for a node on another host, which others may use (was without: " + node
              + " is no loopback address)");
    }
  }

  private AttackReport attacked(HostPort node, NodeConfig config) throws UnknownHostException {
    try (GoodClient client =
        new GoodClient(node, config.space(), config.get(NodeSettings.SLICE_BYTES), timeout, seed)) {
      connect(node, config, client);
      return attacked(node, client, config.space().layout().blockBytes());
    } catch (ConnectionLostException e) {
      throw new UnavailableException("the connection to the node at " + node + " ended (" + Reason.ofCause(e) + ")",
          e);
    }
  }

  private void connect(HostPort node, NodeConfig config, GoodClient client) {
    try {
      client.connected();
    } catch (RemotePermanentException e) {
      throw OtherShape.told(node, config.space(), spec.optionsMap().keySet(), e);
    } catch (ConnectionLostException e) {
      throw new UnavailableException("no node is listening at " + node + " (" + Reason.ofCause(e) + ")", e);
    }
  }

  private AttackReport attacked(HostPort node, GoodClient client, int blockBytes) throws UnknownHostException {
    AttackPlan plan = AttackPlan.of(Duration.ofMillis(Math.round(minutes * 60_000)), played());
    long keep = Math.clamp(fill / blockBytes, 1, MOST_KEPT);
    try (Attackers attackers = new Attackers(ways(node, client), internet(admin), new SplittableRandom(seed));
        Gauges.Source gauges = admin == null ? null : new Gauges.Source(admin, timeout);
        Progress progress = Progress.of(console, "attack", "s", 1000)) {
      progress.next("%s of %s against %s, seed %d".formatted(Plural.of(plan.phases().size(), "phase"),
          Plural.of(Math.max(1, plan.phase().toSeconds()), "second"), node, seed));
      return new AttackRun(node.toString(), client, attackers, gauges, keep, seed, told(progress, plan)).run(plan);
    }
  }

  /// The node's address as it was given, and its other transports as it tells them.
  private List<Endpoint> ways(HostPort node, GoodClient client) throws UnknownHostException {
    List<Endpoint> all = new ArrayList<>();
    all.add(new Endpoint(TransportKind.TCP, new InetSocketAddress(InetAddress.getByName(node.host()), node.port())));
    client.connected().endpoints().stream().filter(way -> way.transport() != TransportKind.TCP).forEach(all::add);
    List<Endpoint> wanted =
        all.stream().filter(way -> over.isEmpty() || over.contains(way.transport().word())).toList();
    List<String> known = all.stream().map(way -> way.transport().word()).distinct().toList();
    if (wanted.isEmpty() || !known.containsAll(over)) {
      throw new IllegalArgumentException("--over must be of the node's transports, " + String.join(", ", known)
          + " (was " + String.join(",", over) + ")");
    }
    return wanted;
  }

  private static @Nullable InetSocketAddress internet(@Nullable HostPort place) throws UnknownHostException {
    return place == null ? null : new InetSocketAddress(InetAddress.getByName(place.host()), place.port());
  }

  /// Kinds in the order of their declaration, each once.
  private List<AttackKind> played() {
    return Arrays.stream(AttackKind.values()).filter(kind -> kinds.isEmpty() || kinds.contains(kind)).toList();
  }

  private AttackRun.Listener told(Progress progress, AttackPlan plan) {
    return new AttackRun.Listener() {
      @Override
      public void begins(String what) {
        progress.next(what);
      }

      @Override
      public void at(Duration played) {
        progress.at(played.toMillis(), plan.total().toMillis());
      }

      @Override
      public void ended(AttackReport soFar) {
        if (json) {
          progress.resultSoFar(soFar);
        }
      }
    };
  }

  private void explain(PhaseReport phase) {
    phase.broken().forEach(bound -> console.say(phase.kind() + ": " + bound));
    console.say(
        "again: penstock attack %s --kinds %s --seed %d --minutes %s".formatted(address, phase.kind(), phase.seed(),
            Math.max(SHORTEST_MINUTES, Math.ceil(phase.seconds() * 2 / 60 * 100) / 100)));
  }

  private static String table(AttackReport report) {
    TextTable table = new TextTable("ATTACK", "PUT", "X", "GET", "X", "KEPT", "ERRORS", "IDLE IN", "VERDICT")
        .row("none", millis(report.quiet().puts()), "", millis(report.quiet().gets()), "", "", "", "", "");
    report.phases().forEach(phase -> table.row(phase.kind(), millis(phase.puts()), times(phase.putsTimesQuiet()),
        millis(phase.gets()), times(phase.getsTimesQuiet()), String.format(Locale.ROOT, "%.2f", phase.kept()),
        phase.failedCalls(), seconds(phase), verdict(phase)));
    return table + "\n" + memory(report) + "%s: slowest calls, %s kept, seed %d%n".formatted(
        report.held() ? "held" : "BROKEN", Plural.of(report.keptBlocks(), "block"), report.seed());
  }

  private static String verdict(PhaseReport phase) {
    return !phase.held() ? "BROKEN" : phase.slowAtFirst().isEmpty() ? "held" : "held on retry";
  }

  /// Memory as the admin endpoints reported it.
  private static String memory(AttackReport report) {
    List<Long> peaks = new ArrayList<>();
    report.phases().forEach(phase -> {
      if (phase.peakResidentBytes() != null) {
        peaks.add(phase.peakResidentBytes());
      }
    });
    Long quiet = report.quiet().node().residentBytes();
    return quiet == null || peaks.isEmpty()
        ? ""
        : "resident memory: %s MiB when quiet, at most %s MiB%n".formatted(Numbers.of(quiet >> 20),
            Numbers.of(peaks.stream().mapToLong(peak -> peak).max().orElse(quiet) >> 20));
  }

  private static String millis(Latency latency) {
    return String.format(Locale.ROOT, "%.1f ms", latency.slowest());
  }

  private static String times(double times) {
    return String.format(Locale.ROOT, "%.1f", times);
  }

  private static String seconds(PhaseReport phase) {
    return phase.after() == null ? "never" : String.format(Locale.ROOT, "%.1f s", phase.letGoSeconds());
  }
}
