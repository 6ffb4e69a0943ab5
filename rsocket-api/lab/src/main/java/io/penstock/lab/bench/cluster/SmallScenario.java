package io.penstock.lab.bench.cluster;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.PrefixHasher;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Figure;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Section;
import io.penstock.lab.bench.side.ProcessCpu;
import io.penstock.node.cli.Progress;
import io.penstock.node.text.Sizes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.LongStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Small blocks in batches: how many a second, and what one costs.
record SmallScenario(ClusterLoad load) implements Scenario {
  private static final int NODES = 3;
  private static final long DRAM = 128 << 20;
  private static final int BATCH = 32;
  private static final int BATCHES = 256;
  private static final int WARM_UP = 2;

  /// One direction of one round.
  ///
  /// @param clientMicros of CPU for a key
  /// @param nodeMicros of CPU for a key, all nodes together
  private record Turn(double keysPerSecond, double clientMicros, double nodeMicros, long keys) {}

  @Override
  public Section run(Path folder, Progress progress) throws IOException {
    int nodes = load.nodesOr(NODES);
    long dram = load.dramOr(DRAM);
    List<Turn> puts = new ArrayList<>();
    List<Turn> gets = new ArrayList<>();
    long wrong;
    try (NodeGroup group = NodeGroup.start(folder, nodes, List.of(), load.flags(dram));
        ClusterClient client = ClusterClient.connect(group.endpoints(), load.space(), load.together())) {
      for (int round = 0; round < WARM_UP + load.rounds(); round++) {
        progress.next("small: round " + (round + 1) + " of " + (WARM_UP + load.rounds()));
        List<List<BlockKey>> batches = batches(client.space(), round);
        Turn put = turn(group, batches, keys -> client.put(keys).map(List::size));
        Turn get = turn(group, batches, client::read);
        if (round >= WARM_UP) {
          puts.add(put);
          gets.add(get);
        }
      }
      wrong = client.wrong();
    }
    long keys = (long) load.rounds() * BATCHES * BATCH;
    return new Section("small",
        ("%d nodes of %s, blocks of %s in batches of %d, %d batches at a time; medians of %d rounds. Mooncake publishes"
            + " 30,000 and 127,000 of 4 KiB a second, on large hosts").formatted(nodes, Sizes.human(dram),
                Sizes.human(load.blockBytes()), BATCH, load.together(), load.rounds()),
        List.of(Figure.of("put", median(puts, Turn::keysPerSecond), "blocks/s"),
            Figure.of("put, CPU of the client", median(puts, Turn::clientMicros), "µs a block"),
            Figure.of("put, CPU of the nodes", median(puts, Turn::nodeMicros), "µs a block"),
            Figure.of("get", median(gets, Turn::keysPerSecond), "blocks/s"),
            Figure.of("get, CPU of the client", median(gets, Turn::clientMicros), "µs a block"),
            Figure.of("get, CPU of the nodes", median(gets, Turn::nodeMicros), "µs a block"),
            Figure.none("blocks not stored", keys - puts.stream().mapToLong(Turn::keys).sum()),
            Figure.none("blocks not read", keys - gets.stream().mapToLong(Turn::keys).sum()),
            Figure.none("blocks with wrong bytes", wrong)));
  }

  private List<List<BlockKey>> batches(CacheSpace space, int round) {
    long from = (load.seed() << 32) + (long) round * BATCHES * BATCH;
    return LongStream.range(0, BATCHES).mapToObj(batch -> LongStream.range(0, BATCH)
        .mapToObj(i -> space.key(PrefixHasher.ofTraceId(from + batch * BATCH + i))).toList()).toList();
  }

  private Turn turn(NodeGroup group, List<List<BlockKey>> batches, Function<List<BlockKey>, Mono<Integer>> work) {
    AtomicLong done = new AtomicLong();
    long cpu = ProcessCpu.nanos();
    long nodeCpu = group.cpuNanos();
    long began = System.nanoTime();
    Flux.fromIterable(batches).flatMap(work, load.together(), 1).doOnNext(done::addAndGet).blockLast();
    double seconds = Waiting.seconds(System.nanoTime() - began);
    double keys = Math.max(1, done.get());
    return new Turn(keys / seconds, (ProcessCpu.nanos() - cpu) / 1e3 / keys, (group.cpuNanos() - nodeCpu) / 1e3 / keys,
        done.get());
  }

  private static double median(List<Turn> turns, ToDoubleFunction<Turn> figure) {
    double[] all = turns.stream().mapToDouble(figure).toArray();
    Arrays.sort(all);
    return all[all.length / 2];
  }
}
