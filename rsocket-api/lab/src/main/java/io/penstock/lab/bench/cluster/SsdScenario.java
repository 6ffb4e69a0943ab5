package io.penstock.lab.bench.cluster;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Figure;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Section;
import io.penstock.node.cli.Progress;
import io.penstock.node.text.Sizes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Long prompts that memory has no room for are read from disks, and read again after all nodes were stopped and
/// started at once.
record SsdScenario(ClusterLoad load) implements Scenario {
  private static final int NODES = 3;
  private static final int PROMPTS = 3;
  private static final long DRAM = 4 << 20;
  private static final String SSD = "512MiB";
  /// Blocks of one request.
  private static final int PART = 512;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /// One reading of all prompts.
  private record Pass(int blocks, double seconds) {}

  @Override
  public Section run(Path folder, Progress progress) throws IOException {
    int nodes = load.nodesOr(NODES);
    long dram = load.dramOr(DRAM);
    List<List<BlockKey>> prompts = prompts();
    int whole = prompts.stream().mapToInt(List::size).sum();
    int tokens = load.space().layout().tokens();
    List<String> flags =
        load.flags(dram, "--write-through", "--ssd", SSD, "--ssd-dir", folder.resolve("%s-ssd").toString());
    try (NodeGroup group = NodeGroup.start(folder, nodes, ClusterLoad.quick(), flags)) {
      long wrong;
      int stored;
      double storing;
      Pass second;
      try (ClusterClient client = ClusterClient.connect(group.endpoints(), load.space(), 1)) {
        long began = System.nanoTime();
        stored = sum(prompts, prompt -> parts(prompt).concatMap(client::put).map(List::size));
        storing = Waiting.seconds(System.nanoTime() - began);
        progress.next("ssd: second pass");
        second = pass(client, prompts);
        wrong = client.wrong();
      }
      progress.next("ssd: all nodes start again");
      long began = System.nanoTime();
      group.restart();
      double restart = Waiting.seconds(System.nanoTime() - began);
      try (ClusterClient client = ClusterClient.connect(group.endpoints(), load.space(), 1)) {
        boolean back = Waiting.until(PATIENCE, () -> found(client, prompts) == whole);
        double rebuilt = Waiting.seconds(System.nanoTime() - began);
        Pass third = pass(client, prompts);
        return new Section("ssd",
            "%d prompts of %,d tokens over %d nodes of %s and %s of disk, blocks of %d tokens and %s".formatted(PROMPTS,
                load.tokens(), nodes, Sizes.human(dram), SSD, tokens, Sizes.human(load.blockBytes())),
            List.of(Figure.atLeast(whole, "blocks stored", stored, ""),
                Figure.of("time", storing, "s"),
                Figure.atLeast((double) whole * tokens, "tokens reused in the second pass",
                    (double) second.blocks() * tokens, ""),
                Figure.of("second pass", second.seconds(), "s"),
                Figure.of("stop and start of all nodes", restart, "s"),
                Figure.of(back ? "until the directory has all" : "all were not found within", rebuilt, "s"),
                Figure.atLeast((double) whole * tokens, "tokens reused in the third pass",
                    (double) third.blocks() * tokens, ""),
                Figure.of("third pass", third.seconds(), "s"),
                Figure.none("blocks with wrong bytes", wrong + client.wrong()),
                Figure.of("blocks compared after the start", client.compared(), "")));
      }
    }
  }

  /// Tokens at random, as whole blocks.
  private List<List<BlockKey>> prompts() {
    SplittableRandom random = new SplittableRandom(load.seed());
    List<List<BlockKey>> prompts = new ArrayList<>();
    for (int i = 0; i < PROMPTS; i++) {
      prompts.add(load.space().keys(random.ints(load.tokens(), 0, 1 << 17).toArray()));
    }
    return prompts;
  }

  private static int found(ClusterClient client, List<List<BlockKey>> prompts) {
    return sum(prompts, client::match);
  }

  private static Pass pass(ClusterClient client, List<List<BlockKey>> prompts) {
    long began = System.nanoTime();
    int blocks = sum(prompts, prompt -> client.match(prompt)
        .flatMapMany(found -> parts(prompt.subList(0, found)).concatMap(client::read)));
    return new Pass(blocks, Waiting.seconds(System.nanoTime() - began));
  }

  private static Flux<List<BlockKey>> parts(List<BlockKey> prompt) {
    return Flux.fromIterable(prompt).buffer(PART);
  }

  private static int sum(List<List<BlockKey>> prompts, Work work) {
    Mono<Integer> all = Flux.fromIterable(prompts).concatMap(work::of).reduce(0, Integer::sum);
    return requireNonNull(all.block(PATIENCE), "a sum");
  }

  /// Blocks of a prompt that were found, read or stored.
  @FunctionalInterface
  private interface Work {
    Publisher<Integer> of(List<BlockKey> prompt);
  }
}
