package io.penstock.lab.bench.cluster;

import static java.util.Objects.requireNonNull;

import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Figure;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Section;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.OwnCommand;
import io.penstock.node.cli.Progress;
import io.penstock.node.text.Json;
import io.penstock.node.text.Reason;
import io.penstock.node.text.Sizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.JsonNode;

/// Nodes on hosts of their own; the cable of one is pulled, and plugged again. Clients on both sides read what their
/// side has meanwhile, and put more.
record SplitScenario(ClusterLoad load, Scheduler timers) implements Scenario {
  private static final int NODES = 3;
  private static final long DRAM = 64 << 20;
  private static final int TALK = 7800;
  private static final List<String> CABLE = List.of("delay", "1ms", "loss", "1%");
  private static final Duration PULLED = Duration.ofSeconds(20);
  private static final int FILLED = 48;
  private static final int MORE = 8;
  private static final int MORE_ALONE = 64;
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  /// A host that falls silent is missed after 9 s at most; then its part of the directory is told again.
  private static final double MOST_DEAF_SECONDS = 15;
  private static final Duration MOST_DEAF = Duration.ofSeconds(30);
  private static final double MOST_HEALING_SECONDS = 60;

  /// What a client of one side read.
  ///
  /// @param passes over all blocks that the side has
  /// @param missing most blocks that did not come in a pass
  /// @param different blocks with wrong bytes
  /// @param slowest nanoseconds of the slowest pass
  private record Served(int passes, int missing, int different, long slowest) {}

  /// A client on the host whose cable is pulled: commands in processes of their own.
  ///
  /// @param on words before a command that runs there
  /// @param node which the client is told
  private record Alone(List<String> on, String node, Path folder, List<String> flags) {
    private static final String MAIN = "io.penstock.node.PenstockMain";

    List<BlockKey> put(int blocks, long firstId) throws IOException {
      return run("put", "--count", String.valueOf(blocks), "--seed", String.valueOf(firstId)).lines()
          .map(BlockKey::parse).toList();
    }

    Served get(List<BlockKey> keys) throws IOException {
      Path wanted = Files.write(folder.resolve("keys"), keys.stream().map(BlockKey::toString).toList());
      long began = System.nanoTime();
      JsonNode said = Json.MAPPER.readTree(
          run("get", "--verify", "--discard", "--json", "--keys-from", wanted.toString()));
      return new Served(1, said.path("missing").size(), said.path("different").size(), System.nanoTime() - began);
    }

    private String run(String... words) throws IOException {
      List<String> arguments = new ArrayList<>(List.of(words));
      arguments.addAll(flags);
      arguments.addAll(List.of("--node", node, "--cluster", "--timeout", "30s"));
      List<String> command = new ArrayList<>(on);
      command.addAll(OwnCommand.of(NodeProcess.SMALL, MAIN, arguments));
      Path out = folder.resolve("out");
      Process process = new ProcessBuilder(command).redirectOutput(out.toFile())
          .redirectError(ProcessBuilder.Redirect.appendTo(folder.resolve("client.log").toFile())).start();
      if (!Waiting.until(PATIENCE, () -> !process.isAlive())) {
        process.destroyForcibly();
      }
      int code = process.onExit().join().exitValue();
      if (code != ExitCode.OK && code != ExitCode.FOUND_FAILURE) {
        throw new IOException("'penstock %s' on the host that is cut off must work (ended with %d: %s)".formatted(
            words[0], code, Files.readString(folder.resolve("client.log")).strip()));
      }
      return Files.readString(out);
    }
  }

  @Override
  public Section run(Path folder, Progress progress) throws IOException {
    int hosts = load.nodesOr(NODES);
    try (Network network = Network.of(hosts, CABLE)) {
      return run(folder, progress, network, hosts);
    } catch (Network.UnusableException e) {
      return new Section("split", "skipped: " + Reason.of(e), List.of());
    }
  }

  private Section run(Path folder, Progress progress, Network network, int hosts) throws IOException {
    long dram = load.dramOr(DRAM);
    List<NodeProcess> nodes = new ArrayList<>();
    Outcome outcome = new Outcome();
    try {
      for (int host = 1; host <= hosts; host++) {
        nodes.add(NodeProcess.of(start(folder, network, host, hosts, dram)));
      }
      for (NodeProcess node : nodes) {
        node.awaitReady();
      }
      NodeProcess cut = nodes.getLast();
      List<NodeProcess> others = nodes.subList(0, hosts - 1);
      Set<String> names = new HashSet<>(nodes.stream().map(NodeProcess::name).toList());
      try (Observer observer = new Observer(load.space());
          ClusterClient client =
              ClusterClient.connect(others.stream().map(NodeProcess::endpoint).toList(), load.space(), 2);
          RequestLoad engine = new RequestLoad(client, outcome, timers)) {
        Alone alone = new Alone(network.on(hosts), cut.endpoint(), folder, load.spaceFlags());
        awaitAll(observer, nodes, names);
        engine.fill(FILLED, load.seed());
        List<BlockKey> ofOthers = List.copyOf(observer.held(others, outcome.stored()));
        List<BlockKey> ofCut = List.copyOf(observer.held(cut, outcome.stored()));

        progress.next("split: the cable is pulled");
        long pulled = System.nanoTime();
        network.pull(hosts);
        Served first = pass(client, ofOthers);
        boolean serves = Waiting.until(MOST_DEAF, () -> pass(client, ofOthers).missing() == 0);
        double whole = serves ? Waiting.seconds(System.nanoTime() - pulled) : Double.POSITIVE_INFINITY;
        Served there = alone.get(ofCut);
        engine.fill(MORE, load.seed() + 1);
        List<BlockKey> more = alone.put(MORE_ALONE, load.seed() << 32);
        Served after = passes(client, ofOthers, pulled + PULLED.toNanos());

        progress.next("split: the cable is plugged");
        network.plug(hosts);
        long plugged = System.nanoTime();
        double met = awaitAll(observer, nodes, names)
            ? Waiting.seconds(System.nanoTime() - plugged)
            : Double.POSITIVE_INFINITY;
        List<BlockKey> all = Stream.concat(outcome.stored().stream(), more.stream()).distinct().toList();
        boolean isFound = Waiting.until(PATIENCE, () -> client.present(all).size() == all.size());
        double found = isFound ? Waiting.seconds(System.nanoTime() - plugged) : Double.POSITIVE_INFINITY;
        int read = ClusterClient.parts(all).stream()
            .mapToInt(part -> client.read(part).blockOptional(PATIENCE).orElse(0)).sum();
        return new Section("split",
            "%d nodes of %s in network namespaces, %s, the cable of %s pulled for %d s%s".formatted(hosts,
                Sizes.human(dram),
                network.delays() ? "netem " + String.join(" ", CABLE) : "without netem, which this kernel lacks",
                cut.name(), PULLED.toSeconds(), outcome.failed()),
            List.of(Figure.of("blocks of the others", ofOthers.size(), ""),
                Figure.of("of them, did not come at once", first.missing(), ""),
                Figure.of("the pass at once", Waiting.seconds(first.slowest()), "s"),
                Figure.atMost(MOST_DEAF_SECONDS, "until all of them come", whole, "s"),
                Figure.atLeast(1, "passes over them after that", after.passes(), ""),
                Figure.none("of them, did not come then", after.missing()),
                Figure.of("slowest of these passes", Waiting.seconds(after.slowest()), "s"),
                Figure.of("blocks of the cut node", ofCut.size(), ""),
                Figure.none("of these, did not come", there.missing()),
                Figure.of("the pass there, with the start of its JVM", Waiting.seconds(there.slowest()), "s"),
                Figure.atLeast(MORE_ALONE, "blocks put there", more.size(), ""),
                Figure.of("until all see all again", met, "s"),
                Figure.atMost(MOST_HEALING_SECONDS, "until all blocks are found again", found, "s"),
                Figure.atLeast(all.size(), "blocks read at last", read, ""),
                Figure.none("blocks with wrong bytes", client.wrong() + there.different())));
      }
    } finally {
      nodes.forEach(NodeProcess::close);
    }
  }

  private NodeProcess.Start start(Path folder, Network network, int host, int hosts, long dram) {
    List<String> seeds = new ArrayList<>();
    for (int other = 1; other <= hosts; other++) {
      if (other != host) {
        seeds.add(network.address(other) + ":" + TALK);
      }
    }
    return new NodeProcess.Start("n" + host, folder, network.on(host), ClusterLoad.quick(), network.address(host), TALK,
        seeds, load.flags(dram, "--open-to-network"));
  }

  private static boolean awaitAll(Observer observer, List<NodeProcess> nodes, Set<String> names) {
    return Waiting.until(PATIENCE, () -> nodes.stream().allMatch(node -> observer.members(node).equals(names)));
  }

  /// Reads `keys` over and over until `end`, once at least.
  private static Served passes(ClusterClient client, List<BlockKey> keys, long end) {
    Served all = pass(client, keys);
    while (end - System.nanoTime() > 0) {
      Served next = pass(client, keys);
      all = new Served(all.passes() + 1, Math.max(all.missing(), next.missing()), 0,
          Math.max(all.slowest(), next.slowest()));
    }
    return all;
  }

  /// Reads `keys` once. Blocks of a request that fails did not come.
  private static Served pass(ClusterClient client, List<BlockKey> keys) {
    long began = System.nanoTime();
    int missing = 0;
    for (List<BlockKey> part : ClusterClient.parts(keys)) {
      missing += part.size() - requireNonNull(client.came(part).onErrorReturn(KvException.class, new BitSet())
          .block(PATIENCE), "positions").cardinality();
    }
    return new Served(1, missing, 0, System.nanoTime() - began);
  }
}
