package io.penstock.flow;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockView;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Plane;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.ReshardedModel;
import io.penstock.testkit.ReshardedModel.Rank;
import io.penstock.tier.OnMiss;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.tier.spi.ViewLanding.Landed;
import io.penstock.tier.spi.ViewSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Layers leave as they are computed, over links in virtual time.
final class PushLayersTest {
  private static final int LAYERS = 16;
  private static final long LAYER_MILLIS = 100;
  private static final ReshardedModel MODEL = new ReshardedModel(LAYERS, 2,
      List.of(new Plane(Plane.Kind.KEY, Plane.ElementType.INT8, 1, 4),
          new Plane(Plane.Kind.VALUE, Plane.ElementType.INT8, 1, 4)));
  private static final Rank FROM = MODEL.rank(0, LAYERS, 0, 2, 8, TokenOrder.NHD);
  /// One head, half the tokens a block.
  private static final Rank TO = MODEL.rank(0, LAYERS, 1, 1, 4, TokenOrder.HND);
  private static final BlockView VIEW = BlockView.of(FROM.layout(), 0, LAYERS, 1, 1, 0, 8);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final SlabArena source = leaks.watch(new SlabArena("source", FROM.layout(), 32, 1));
  private final PushLayers push =
      new PushLayers(new PullBlocksTest.RankTier(FROM, leaks.watch(new SlabArena("made", FROM.layout(), 4, 4))),
          List.of(time));

  private long now() {
    return time.now(TimeUnit.MILLISECONDS);
  }

  /// A request that is computed layer by layer in virtual time; it fails if bytes are read before they are written.
  private final class Prefill implements AutoCloseable {
    private final List<BlockDraft> drafts;
    private final BitSet written = new BitSet();
    private final Production production;
    private int spansLent;

    Prefill(String request, int blocks) {
      drafts = IntStream.range(0, blocks)
          .mapToObj(block -> requireNonNull(source.tryClaim(List.of(FROM.key(block)))).getFirst()).toList();
      production = push.begin(request, blocks, this::span);
    }

    private LayerSpan span(int block, GranuleRange granules) {
      int layer = granules.first() / 2;
      assertThat(written.get(block * LAYERS + layer)).as("block %d layer %d is written", block, layer).isTrue();
      spansLent++;
      return drafts.get(block).span(granules);
    }

    /// The layers of the next `blocks` blocks, one every `millis` from `start` on.
    ///
    /// @param last whether no chunk follows
    void compute(int first, int blocks, long start, long millis, boolean last) {
      time.schedule(() -> {
        Production.Chunk chunk = production.chunk(blocks);
        if (last) {
          production.end();
        }
        for (int i = 0; i < LAYERS; i++) {
          int layer = i;
          time.schedule(() -> ready(chunk, first, blocks, layer), (layer + 1) * millis, TimeUnit.MILLISECONDS);
        }
      }, start, TimeUnit.MILLISECONDS);
    }

    void ready(Production.Chunk chunk, int first, int blocks, int layer) {
      if (production.isClosed()) {
        return;
      }
      for (int block = first; block < first + blocks; block++) {
        FROM.produce(drafts.get(block), block, GranuleRange.layers(FROM.layout(), layer, layer + 1));
        written.set(block * LAYERS + layer);
      }
      chunk.ready(layer);
    }

    @Override
    public void close() {
      production.close();
      drafts.forEach(BlockDraft::close);
    }
  }

  /// The blocks of a decode rank.
  private final class Decode implements AutoCloseable {
    final List<BlockDraft> drafts = new ArrayList<>();
    final List<Landed> landed = new ArrayList<>();
    final List<Long> times = new ArrayList<>();
    final ViewLanding landing = new ViewLanding(FROM.layout(), VIEW);
    final List<BlockKey> keys;
    long endedAt = -1;
    Throwable failure;

    Decode(String request, int sourceBlocks) {
      keys = PushLayers.keys(FROM.space(), request, sourceBlocks);
      SlabArena arena = leaks.watch(new SlabArena("decode", TO.layout(), 2 * sourceBlocks, 1));
      for (int block = 0; block < 2 * sourceBlocks; block++) {
        BlockDraft draft = requireNonNull(arena.tryClaim(List.of(TO.key(block)))).getFirst();
        landing.to(block / 2, block % 2 * 4, draft.part(BlockView.all(TO.layout())));
        drafts.add(draft);
      }
    }

    void receive(UnaryOperator<Flux<LayerSlice>> link) {
      fetch(link).subscribe(part -> {
        landed.add(part);
        times.add(now());
      }, error -> failure = error, () -> endedAt = now());
    }

    Flux<Landed> fetch(UnaryOperator<Flux<LayerSlice>> link) {
      return ViewSource.of(push, SliceShape.defaults(), link).fetch(keys, OnMiss.AWAIT, landing);
    }

    void requireAll() {
      assertThat(failure).isNull();
      assertThat(endedAt).as("the stream ended").isNotNegative();
      for (int block = 0; block < drafts.size(); block++) {
        int number = block;
        try (var sealed = drafts.get(block).seal()) {
          sealed.verify("test").read(memory -> {
            TO.requireBytes(number, 0, Integer.MAX_VALUE, memory);
            return memory;
          });
        }
      }
    }

    @Override
    public void close() {
      drafts.forEach(BlockDraft::close);
    }
  }

  /// A link on which each slice takes `millis`, one after another.
  private UnaryOperator<Flux<LayerSlice>> link(long millis) {
    return slices -> slices.concatMap(slice -> Mono.delay(Duration.ofMillis(millis), time).thenReturn(slice), 0);
  }

  @Test
  void transfer_overlapsWithCompute() {
    try (Decode decode = new Decode("overlap", 3); Prefill prefill = new Prefill("overlap", 3)) {
      long transfer = LAYER_MILLIS * 8 / 10;
      decode.receive(link(transfer));
      prefill.compute(0, 3, 0, LAYER_MILLIS, true);
      time.advanceTimeBy(Duration.ofMinutes(1));
      decode.requireAll();
      assertThat(decode.landed).hasSize(LAYERS);
      assertThat(decode.endedAt).isLessThanOrEqualTo(LAYERS * LAYER_MILLIS * 11 / 10 + transfer)
          .isGreaterThanOrEqualTo(LAYERS * LAYER_MILLIS + transfer);
      for (int layer = 0; layer < LAYERS; layer++) {
        assertThat(decode.times.get(layer)).as("layer %d", layer).isEqualTo((layer + 1) * LAYER_MILLIS + transfer);
      }
    }
  }

  @Test
  void aClosedRequest_isReadNoMore_evenWhereItsLayersAreReady() {
    try (Decode decode = new Decode("closed", 1); Prefill prefill = new Prefill("closed", 1)) {
      decode.receive(link(LAYER_MILLIS));
      prefill.compute(0, 1, 0, 1, true);
      time.advanceTimeBy(Duration.ofMillis(3 * LAYER_MILLIS));
      int lent = prefill.spansLent;
      prefill.production.close();
      time.advanceTimeBy(Duration.ofMinutes(1));
      assertThat(prefill.spansLent).isEqualTo(lent);
      assertThat(decode.failure).isInstanceOf(IncompleteBlockException.class);
    }
  }

  @Test
  void aSlowDecodeNode_slowsItsOwnWorkAlone() {
    try (Decode slow = new Decode("slow", 2);
        Decode fast = new Decode("fast", 2);
        Prefill ofSlow = new Prefill("slow", 2);
        Prefill ofFast = new Prefill("fast", 2)) {
      slow.receive(link(50 * LAYER_MILLIS));
      fast.receive(link(LAYER_MILLIS / 2));
      ofSlow.compute(0, 2, 0, LAYER_MILLIS, true);
      ofFast.compute(0, 2, 0, LAYER_MILLIS, true);
      time.advanceTimeBy(Duration.ofMillis(LAYERS * LAYER_MILLIS + LAYER_MILLIS));
      fast.requireAll();
      assertThat(fast.endedAt).isEqualTo(LAYERS * LAYER_MILLIS + LAYER_MILLIS / 2);
      assertThat(slow.landed).isEmpty();
      assertThat(ofSlow.spansLent).as("spans of the two blocks that wait for the slow node").isLessThanOrEqualTo(2 * 3);
      time.advanceTimeBy(Duration.ofHours(1));
      slow.requireAll();
      assertThat(slow.endedAt).isEqualTo(LAYER_MILLIS + LAYERS * 50 * LAYER_MILLIS);
    }
  }

  @Test
  void aReaderWithoutDemand_occupiesNoShard() {
    try (Decode stalled = new Decode("stalled", 1);
        Decode other = new Decode("other", 1);
        Prefill ofStalled = new Prefill("stalled", 1);
        Prefill ofOther = new Prefill("other", 1)) {
      BaseSubscriber<Landed> none = new BaseSubscriber<>() {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {
          subscription.request(1);
        }
      };
      stalled.fetch(slices -> slices).subscribe(none);
      other.receive(link(1));
      ofStalled.compute(0, 1, 0, LAYER_MILLIS, true);
      ofOther.compute(0, 1, 0, LAYER_MILLIS, true);
      time.advanceTimeBy(Duration.ofMinutes(1));
      other.requireAll();
      assertThat(ofStalled.spansLent).isLessThanOrEqualTo(3);
      none.cancel();
    }
  }

  /// Chunks of random sizes, computed at random speeds over a link with random delays, to a reader that comes at any
  /// time: layers of each chunk in order, chunks in order, every byte right.
  @Test
  void randomDelays_neverGiveAGap() {
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      int blocks = 1 + random.nextInt(5);
      String request = "random-" + seed;
      try (Decode decode = new Decode(request, blocks)) {
        UnaryOperator<Flux<LayerSlice>> link = slices -> slices.concatMap(slice -> Mono
            .delay(Duration.ofMillis(random.nextInt(300)), time).thenReturn(slice), 0);
        time.schedule(() -> decode.receive(link), random.nextInt(5_000), TimeUnit.MILLISECONDS);
        time.advanceTimeBy(Duration.ofMillis(random.nextInt(3_000)));
        try (Prefill prefill = new Prefill(request, blocks)) {
          long start = 0;
          for (int first = 0; first < blocks;) {
            int chunk = 1 + random.nextInt(blocks - first);
            prefill.compute(first, chunk, start, 1 + random.nextInt(100), first + chunk == blocks);
            first += chunk;
            start += random.nextInt(2_000);
          }
          time.advanceTimeBy(Duration.ofMinutes(5));
          decode.requireAll();
          requireOrder(decode.landed, seed);
        }
      }
    }
  }

  private static void requireOrder(List<Landed> landed, int seed) {
    int next = 0;
    for (Landed part : landed) {
      int layer = part.part().firstLayer(FROM.layout());
      assertThat(layer).as("seed %d, layer after %d", seed, next).isEqualTo(next % LAYERS);
      next = layer + 1;
    }
  }

  @Test
  void aRequestThatIsForgotten_orFails_endsItsReaders() {
    try (Decode forgotten = new Decode("forgotten", 2);
        Decode failed = new Decode("failed", 2);
        Decode cut = new Decode("cut", 2)) {
      Prefill first = new Prefill("forgotten", 2);
      Prefill second = new Prefill("failed", 2);
      Prefill third = new Prefill("cut", 2);
      List.of(forgotten, failed, cut).forEach(decode -> decode.receive(link(1)));
      List.of(first, second).forEach(prefill -> prefill.compute(0, 2, 0, LAYER_MILLIS, true));
      third.compute(0, 1, 0, LAYER_MILLIS, true);
      time.advanceTimeBy(Duration.ofMillis(3 * LAYER_MILLIS));
      first.close();
      second.production.fail(new IllegalStateException("device lost"));
      time.advanceTimeBy(Duration.ofMinutes(1));
      assertThat(forgotten.failure).isInstanceOf(IncompleteBlockException.class);
      assertThat(failed.failure).hasMessage("device lost");
      assertThat(cut.failure).as("a block that never came").isInstanceOfSatisfying(IncompleteBlockException.class,
          e -> assertThat(e.key()).isEqualTo(cut.keys.get(1)));
      second.close();
      third.close();
    }
  }

  @Test
  void aReaderThatCameEarly_leavesNothingBehind() {
    try (Decode decode = new Decode("early", 1)) {
      decode.fetch(slices -> slices).subscribe().dispose();
      assertThat(push.waiting()).isZero();
      decode.fetch(slices -> slices).subscribe();
      assertThat(push.waiting()).isOne();
      try (Prefill prefill = new Prefill("early", 1)) {
        assertThat(push.waiting()).isZero();
        assertThatThrownBy(() -> push.begin("early", 1, prefill::span)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> prefill.production.chunk(2)).isInstanceOf(IllegalStateException.class);
      }
    }
  }

  @Test
  void aReaderOfEarlyBlocks_endsWithTheirChunk() {
    try (Decode decode = new Decode("prefix", 1); Prefill prefill = new Prefill("prefix", 3)) {
      decode.receive(link(1));
      prefill.compute(0, 1, 0, LAYER_MILLIS, false);
      time.advanceTimeBy(Duration.ofMinutes(1));
      decode.requireAll();
      assertThat(decode.endedAt).isEqualTo(LAYERS * LAYER_MILLIS + 1);
    }
  }

  @Test
  void aRequest_isSentByOneShard_andRequestsSpread() {
    List<VirtualTimeScheduler> shards = List.of(VirtualTimeScheduler.create(), VirtualTimeScheduler.create());
    PushLayers sharded = new PushLayers(push, List.copyOf(shards));
    int[] used = new int[shards.size()];
    for (int i = 0; i < 16; i++) {
      String request = "request-" + i;
      long[] before = shards.stream().mapToLong(VirtualTimeScheduler::getScheduledTaskCount).toArray();
      BlockDraft draft = requireNonNull(source.tryClaim(List.of(FROM.key(0)))).getFirst();
      FROM.produce(draft, 0, GranuleRange.all(FROM.layout()));
      try (draft;
          Decode decode = new Decode(request, 1);
          Production production = sharded.begin(request, 1, (block, granules) -> draft.span(granules))) {
        ViewSource.of(sharded, SliceShape.defaults()).fetch(decode.keys, OnMiss.AWAIT, decode.landing)
            .subscribe(decode.landed::add, error -> decode.failure = error, () -> decode.endedAt = now());
        Production.Chunk chunk = production.chunk(1);
        IntStream.range(0, LAYERS).forEach(chunk::ready);
        shards.forEach(VirtualTimeScheduler::advanceTime);
        decode.requireAll();
        int[] own = IntStream.range(0, shards.size())
            .filter(shard -> shards.get(shard).getScheduledTaskCount() > before[shard]).toArray();
        assertThat(own).as(request).hasSize(1);
        used[own[0]]++;
      }
    }
    assertThat(used).as("requests of each shard").doesNotContain(0);
  }

  @Test
  void aSourceWithNothingToSend_endsAtOnce() {
    List<Landed> landed = ViewSource.of(push, SliceShape.defaults())
        .fetch(List.of(), OnMiss.AWAIT, new ViewLanding(FROM.layout(), VIEW)).collectList().block();
    assertThat(landed).isEmpty();
    assertThat(push.waiting()).isZero();
  }
}
