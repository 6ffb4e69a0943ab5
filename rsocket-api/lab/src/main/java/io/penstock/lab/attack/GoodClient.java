package io.penstock.lab.attack;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.content.KvPattern;
import io.penstock.node.link.HostPort;
import io.penstock.node.text.Durations;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.client.get.RemoteLease;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// A client that keeps to every rule. It keeps blocks in the node, puts a few more, reads them back, compares every
/// byte, and removes them, over and over. One thread.
final class GoodClient implements AutoCloseable {
  /// Blocks of a round.
  static final int ROUND_BLOCKS = 8;
  /// Blocks that a round reads besides.
  private static final int KEPT_READ = 8;
  private static final int FILL_BLOCKS = 64;
  private static final int BUDGET_SLICES = 16;
  private static final int WAITERS = 64;
  private static final Duration GOODBYE = Duration.ofSeconds(2);

  private final HostPort address;
  private final CacheSpace space;
  private final KvClientOptions options;
  private final Duration patience;
  private final LoopResources loops = LoopResources.create("penstock-client", 1, true);
  private final SlabArena produced;
  private final SlabArena landed;
  private final ByteBudget budget;
  private final ProducingSource source;
  private final Random random;
  private final List<BlockKey> kept = new ArrayList<>();
  private @Nullable KvClient client;
  private long next;

  /// @param patience longest wait for an answer
  GoodClient(HostPort address, CacheSpace space, int sliceBytes, Duration patience, long seed) {
    this.address = address;
    this.space = space;
    this.patience = patience;
    this.options = KvClientOptions.builder().name("penstock-attack").maxSliceBytes(sliceBytes)
        .windowBlocks(ROUND_BLOCKS).build();
    this.produced = new SlabArena("produced", space.layout(), 2 * ROUND_BLOCKS, WAITERS);
    this.landed = new SlabArena("landed", space.layout(), 2 * ROUND_BLOCKS, WAITERS);
    this.budget = new ByteBudget("client", (long) BUDGET_SLICES * sliceBytes, WAITERS);
    this.source = new ProducingSource(produced, SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> KvPattern.fill(key, space.layout(), range, memory));
    this.random = new Random(seed);
    this.next = Integer.toUnsignedLong((int) seed) << 32; // blocks of another run are others
  }

  CacheSpace space() {
    return space;
  }

  /// The connection; a new one if the earlier one was lost.
  KvClient connected() {
    KvClient open = client;
    if (open == null) {
      open = dialled();
      client = open;
    }
    return open;
  }

  private KvClient dialled() {
    TcpClientOptions tcp = TcpClientOptions.to(address.host(), address.port()).withConnectTimeout(patience);
    return value(KvClient.connect(TcpTransport.client(tcp, loops), options, space, landed, budget));
  }

  /// Gives the connection up: the next call makes another.
  void disconnect() {
    KvClient open = client;
    client = null;
    if (open != null) {
      leave(open);
    }
  }

  /// Drops a connection; the report of its end may come late.
  private static void leave(KvClient open) {
    open.close().onErrorComplete().subscribe();
  }

  /// Connects once more, as a newcomer does, and goes away again.
  void visit() {
    KvClient visitor = dialled();
    try {
      value(visitor.stat());
    } finally {
      leave(visitor);
    }
  }

  ServerStat stat() {
    return value(connected().stat());
  }

  /// Puts blocks until `most` of them are in the node; blocks that left it are forgotten. Returns the number of blocks
  /// that are there.
  int keep(long most) {
    List<BlockKey> lost = missing();
    put(lost);
    kept.removeAll(new HashSet<>(lost));
    kept.addAll(lost);
    while (kept.size() < most) {
      List<BlockKey> more = fresh((int) Math.min(FILL_BLOCKS, most - kept.size()));
      put(more);
      kept.addAll(more);
    }
    kept.removeAll(new HashSet<>(missing()));
    return kept.size();
  }

  /// Keys of the blocks that it keeps in the node.
  List<BlockKey> kept() {
    return List.copyOf(kept);
  }

  /// Number of them that the node has.
  int visible() {
    return kept.size() - missing().size();
  }

  private List<BlockKey> missing() {
    List<BlockKey> missing = new ArrayList<>();
    if (!kept.isEmpty()) {
      var present = value(connected().contains(kept));
      for (int i = 0; i < kept.size(); i++) {
        if (!present.get(i)) {
          missing.add(kept.get(i));
        }
      }
    }
    return missing;
  }

  /// Keys of blocks that were never put.
  List<BlockKey> fresh(int count) {
    long from = next;
    next += count;
    return LongStream.range(from, next).mapToObj(PrefixHasher::ofTraceId).map(space::key).toList();
  }

  /// @throws IllegalStateException if the node gave no receipt for one of them
  void put(List<BlockKey> keys) {
    if (!keys.isEmpty()) {
      List<Receipt> receipts = value(connected().put(keys, source).collectList());
      if (receipts.size() != keys.size()) {
        throw new IllegalStateException("receipts must be %d (was %d)".formatted(keys.size(), receipts.size()));
      }
    }
  }

  /// Removes `keys` and returns how many of them were there.
  int removed(List<BlockKey> keys) {
    return value(connected().remove(keys)).count();
  }

  /// Reads `keys`, and some of the kept blocks, and compares all bytes.
  ///
  /// @return blocks with wrong bytes
  /// @throws IllegalStateException if one of `keys` is missing, or a block that was found did not come
  int read(List<BlockKey> keys) {
    List<BlockKey> asked = new ArrayList<>(keys);
    random.ints(KEPT_READ, 0, Math.max(1, kept.size())).distinct().limit(kept.size())
        .forEach(index -> asked.add(kept.get(index)));
    return value(Flux.using(BlockScope::new, scope -> connected().lease(asked, OnMiss.SKIP, scope)
        .flatMapMany(lease -> wrong(lease, keys.size(), scope)), BlockScope::close).single());
  }

  private Mono<Integer> wrong(RemoteLease lease, int needed, BlockScope scope) {
    int there = lease.found().bits().get(0, needed).cardinality();
    if (there < needed) {
      return Mono.error(new IllegalStateException(
          "blocks that were just put must be there (was %d of %d)".formatted(there, needed)));
    }
    List<Boolean> came = new ArrayList<>();
    return lease.windows(ROUND_BLOCKS, scope).concatMapIterable(window -> {
      window.forEach(each -> came.add(differs(each)));
      return List.<Boolean>of();
    }, 1).then(Mono.fromSupplier(() -> {
      if (came.size() != lease.found().count()) {
        throw new IllegalStateException(
            "node must deliver all blocks that it found (was %d of %d)".formatted(came.size(), lease.found().count()));
      }
      return (int) came.stream().filter(differs -> differs).count();
    }));
  }

  private boolean differs(LeasedBlock leased) {
    BlockLayout layout = space.layout();
    try (Block block = leased.block()) {
      return block.read(memory -> KvPattern.mismatch(block.key(), layout, GranuleRange.all(layout), memory)) >= 0;
    }
  }

  private <T> T value(Mono<T> answer) {
    try {
      return requireNonNull(answer.block(patience), "every answer has a value");
    } catch (IllegalStateException e) { // as Reactor says that the time is over
      if (e.getCause() instanceof TimeoutException) {
        throw new UnavailableException("the node must answer within " + Durations.print(patience) + " (did not)", e);
      }
      throw e;
    }
  }

  @Override
  public void close() {
    disconnect();
    landed.close();
    produced.close();
    loops.disposeLater(Duration.ZERO, GOODBYE).block(GOODBYE);
  }
}
