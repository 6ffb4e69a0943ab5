package io.penstock.examples.stream;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SlabArena;
import io.penstock.examples.source.SeededBytes;
import io.penstock.stage.Stage;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.get.RemoteLease;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// One reader of one stream, with a connection, an arena and a budget of its own; compares every byte that it reads.
final class Reader {
  private final int stream;
  private final long seed;
  private final SlabArena arena;
  private final ByteBudget budget;
  private final AtomicLong readBytes = new AtomicLong();
  private final AtomicLong wrongSpans = new AtomicLong();
  private final KvClient client;
  private final Function<Publisher<LayerSlice>, Publisher<LayerSlice>> recorded;

  private Reader(int stream, long seed, SlabArena arena, ByteBudget budget, KvClient client,
      Function<Publisher<LayerSlice>, Publisher<LayerSlice>> recorded) {
    this.recorded = recorded;
    this.stream = stream;
    this.seed = seed;
    this.arena = arena;
    this.budget = budget;
    this.client = client;
  }

  /// @param recorded what the slices pass through, such as a recorder
  static Mono<Reader> connect(ClientTransport transport, int stream, long seed, long budgetBytes,
      Function<Publisher<LayerSlice>, Publisher<LayerSlice>> recorded) {
    SlabArena arena = new SlabArena("reader " + stream, Shape.LAYOUT, Shape.READER_SLOTS, 16);
    ByteBudget budget = new ByteBudget("reader " + stream, budgetBytes, 16);
    KvClientOptions options =
        KvClientOptions.builder().maxSliceBytes(Shape.SLICE_BYTES).windowBlocks(Shape.WINDOW_BLOCKS).build();
    return KvClient.connect(transport, options, Shape.SPACE, arena, budget)
        .map(client -> new Reader(stream, seed, arena, budget, client, recorded)).doOnError(error -> arena.close());
  }

  /// Reads `streamBytes` through `pace`, or cancels after `duration`; completes when the node holds nothing of the
  /// stream any more.
  Mono<Void> read(long streamBytes, Duration duration, Stage<LayerSlice, LayerSlice> pace, Scheduler timers) {
    return Flux.using(BlockScope::new,
        scope -> client.lease(keys(streamBytes / Shape.BLOCK_BYTES), OnMiss.SKIP, scope)
            .flatMap(lease -> read(lease, scope, pace, Mono.delay(duration, timers))),
        BlockScope::close).then();
  }

  private Mono<Void> read(RemoteLease lease, BlockScope scope, Stage<LayerSlice, LayerSlice> pace, Mono<Long> until) {
    return lease.slices(scope).transform(recorded).limitRate(Shape.READ_AHEAD_SLICES).transform(pace)
        .doOnNext(this::take)
        .takeUntilOther(until).then(lease.drained());
  }

  private List<BlockKey> keys(long blocks) {
    return LongStream.range(0, blocks)
        .mapToObj(number -> new BlockKey(Shape.SPACE_ID, GeneratingTier.hash(stream, number))).toList();
  }

  private void take(LayerSlice slice) {
    try (slice) {
      slice.spans().forEach(this::compare);
      readBytes.addAndGet(slice.bytes());
    }
  }

  private void compare(LayerSpan span) {
    long differs = span.read(memory -> SeededBytes.mismatch(
        GeneratingTier.seedOf(seed, span.key()), span.range().offset(Shape.LAYOUT), memory));
    if (differs >= 0) {
      wrongSpans.incrementAndGet();
    }
  }

  long readBytes() {
    return readBytes.get();
  }

  /// Number of spans with wrong bytes.
  long wrongSpans() {
    return wrongSpans.get();
  }

  SlabArena arena() {
    return arena;
  }

  ByteBudget budget() {
    return budget;
  }

  Mono<Void> close() {
    return client.close().doFinally(end -> arena.close());
  }
}
