package io.penstock.lab.bench.cluster;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.node.content.KvPattern;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.wire.PenstockClient;
import io.penstock.wire.cluster.tier.Spread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;

/// A client of a cluster. What it puts is a function of the keys, and it compares every byte that it reads.
final class ClusterClient implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int WINDOW = 64;
  private static final int WAITERS = 1024;
  private static final int ASKED_AT_ONCE = 4096;

  private final PenstockClient client;
  private final CacheSpace space;
  private final SlabArena made;
  private final ProducingSource source;
  private final AtomicLong compared = new AtomicLong();
  private final AtomicLong wrong = new AtomicLong();

  private ClusterClient(PenstockClient client, CacheSpace space, int requests) {
    this.client = client;
    this.space = space;
    this.made = new SlabArena("made", space.layout(), requests * WINDOW, WAITERS);
    this.source = new ProducingSource(made, SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> KvPattern.fill(key, space.layout(), range, memory));
  }

  /// @param seeds `HOST:PORT` where clients reach nodes
  /// @param requests most that have windows under way at a time
  static ClusterClient connect(List<String> seeds, CacheSpace space, int requests) {
    return connect(seeds, space, requests, Spread.defaults());
  }

  /// @param seeds `HOST:PORT` where clients reach nodes
  /// @param requests most that have windows under way at a time
  /// @param spread of what it puts
  static ClusterClient connect(List<String> seeds, CacheSpace space, int requests, Spread spread) {
    PenstockClient client = requireNonNull(PenstockClient.connectCluster(seeds, "",
        PenstockClient.Options.of(space).withMemory(2 * requests * WINDOW, WINDOW).withSpread(spread)).block(PATIENCE),
        "a client");
    return new ClusterClient(client, space, requests);
  }

  CacheSpace space() {
    return space;
  }

  /// Blocks whose bytes were compared.
  long compared() {
    return compared.get();
  }

  /// Blocks whose bytes were wrong.
  long wrong() {
    return wrong.get();
  }

  private BlockTier tier() {
    return client.tier();
  }

  Mono<Integer> match(List<BlockKey> keys) {
    return tier().match(keys);
  }

  /// Reads and compares.
  ///
  /// @return how many of `keys`, from the first on, came
  Mono<Integer> read(List<BlockKey> keys) {
    return came(keys).map(came -> came.nextClearBit(0));
  }

  /// Reads and compares.
  ///
  /// @return positions of `keys` whose blocks came
  Mono<BitSet> came(List<BlockKey> keys) {
    return keys.isEmpty()
        ? Mono.just(new BitSet())
        : Mono.using(BlockScope::new, scope -> tier().lease(keys, OnMiss.SKIP, scope)
            .flatMap(lease -> came(lease, scope)), BlockScope::close).defaultIfEmpty(new BitSet());
  }

  private Mono<BitSet> came(Lease lease, BlockScope scope) {
    return lease.windows(WINDOW, scope).collect(BitSet::new,
        (came, window) -> window.forEach(one -> came.set(compare(one)))).doFinally(end -> lease.close());
  }

  private int compare(LeasedBlock leased) {
    try (Block block = leased.block()) {
      GranuleRange all = GranuleRange.all(space.layout());
      compared.incrementAndGet();
      if (block.read(memory -> KvPattern.mismatch(block.key(), space.layout(), all, memory)) >= 0) {
        wrong.incrementAndGet();
      }
    }
    return leased.position();
  }

  /// Puts the blocks that the cluster lacks.
  ///
  /// @return those that it stored
  Mono<List<BlockKey>> put(List<BlockKey> keys) {
    return keys.isEmpty()
        ? Mono.just(List.of())
        : tier().put(keys, SliceShape.defaults(), source).map(Receipt::key).collectList();
  }

  /// Those of `keys` that the cluster has. Waits.
  Set<BlockKey> present(List<BlockKey> keys) {
    return present(keys, part -> tier().contains(part));
  }

  /// Those of `keys` of which `question` says that they are there, asked in parts. Waits.
  static Set<BlockKey> present(List<BlockKey> keys, Question question) {
    Set<BlockKey> present = new LinkedHashSet<>();
    for (List<BlockKey> part : parts(keys)) {
      Presence answer = requireNonNull(question.of(part).block(PATIENCE), "an answer");
      for (int i = 0; i < part.size(); i++) {
        if (answer.get(i)) {
          present.add(part.get(i));
        }
      }
    }
    return present;
  }

  /// Asks which keys are there.
  @FunctionalInterface
  interface Question {
    Mono<Presence> of(List<BlockKey> keys);
  }

  /// `keys` in parts that one question may have.
  static List<List<BlockKey>> parts(List<BlockKey> keys) {
    List<List<BlockKey>> parts = new ArrayList<>();
    for (int from = 0; from < keys.size(); from += ASKED_AT_ONCE) {
      parts.add(keys.subList(from, Math.min(keys.size(), from + ASKED_AT_ONCE)));
    }
    return parts;
  }

  @Override
  public void close() {
    client.close().block(PATIENCE);
    made.close();
  }
}
