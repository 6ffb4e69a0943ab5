package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.node.content.KvPattern;
import io.penstock.node.shape.BlockShape;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.get.RemoteLease;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.LongStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// A client of a node process that puts blocks whose bytes follow from their keys, and so knows what it must get back.
final class PatternClient implements AutoCloseable {
  /// Small blocks of four layers.
  static final CacheSpace SPACE = BlockShape.of(4 << 10, 4).space("penstock-demo");
  /// What a node needs to be told to keep such blocks.
  static final List<String> SHAPE = List.of("--block-bytes", "4KiB", "--layers", "4");

  private static final Duration SOON = Duration.ofSeconds(30);
  private static final int WINDOW = 32;
  private static final int READ_AT_A_TIME = 256;

  private final LoopResources loops = LoopResources.create("pattern", 1, true);
  private final SlabArena produced = new SlabArena("produced", SPACE.layout(), 8 * WINDOW, 8);
  private final SlabArena landed = new SlabArena("landed", SPACE.layout(), 2 * WINDOW, 8);
  private final ProducingSource source = new ProducingSource(produced, SliceShape.Order.LAYER_FIRST,
      (key, range, memory) -> KvPattern.fill(key, SPACE.layout(), range, memory));
  private final KvClient client;

  PatternClient(NodeProcess node) {
    client = Objects.requireNonNull(KvClient
        .connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", node.port()), loops),
            KvClientOptions.builder().windowBlocks(WINDOW).build(), SPACE, landed,
            new ByteBudget("pattern", 4 << 20, 64))
        .block(SOON));
  }

  /// Keys of the trace ids from `from` to before `to`.
  static List<BlockKey> keys(long from, long to) {
    return LongStream.range(from, to).mapToObj(PrefixHasher::ofTraceId).map(SPACE::key).toList();
  }

  Flux<Receipt> put(List<BlockKey> keys) {
    return client.put(keys, source);
  }

  /// Reads those of `keys` that the node has, whole, and compares every byte.
  ///
  /// @return what was there; each block that the node says it found came
  Set<BlockKey> read(List<BlockKey> keys) {
    Set<BlockKey> whole = new HashSet<>();
    for (int from = 0; from < keys.size(); from += READ_AT_A_TIME) {
      List<BlockKey> asked = keys.subList(from, Math.min(keys.size(), from + READ_AT_A_TIME));
      whole.addAll(Objects.requireNonNull(Flux.using(BlockScope::new, scope -> client.lease(asked, OnMiss.SKIP, scope)
          .flatMapMany(lease -> compared(lease, asked, scope)), BlockScope::close).collectList().block(SOON)));
    }
    return whole;
  }

  private static Flux<BlockKey> compared(RemoteLease lease, List<BlockKey> asked, BlockScope scope) {
    List<BlockKey> came = new ArrayList<>();
    return lease.windows(WINDOW, scope).concatMapIterable(window -> {
      window.forEach(each -> came.add(compared(each, asked.get(each.position()))));
      return List.<BlockKey>of();
    }, 1).then(Mono.fromSupplier(() -> {
      assertThat(came).as("blocks that came of those found").hasSize(lease.found().count());
      return came;
    })).flatMapIterable(keys -> keys);
  }

  private static BlockKey compared(LeasedBlock leased, BlockKey key) {
    try (Block block = leased.block()) {
      assertThat(block.key()).isEqualTo(key);
      int differs =
          block.read(memory -> KvPattern.mismatch(key, SPACE.layout(), GranuleRange.all(SPACE.layout()), memory));
      assertThat(differs).as("first byte that differs in %s", key).isEqualTo(-1);
      return key;
    }
  }

  @Override
  public void close() {
    client.close().block(SOON);
    landed.close();
    produced.close();
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
  }
}
