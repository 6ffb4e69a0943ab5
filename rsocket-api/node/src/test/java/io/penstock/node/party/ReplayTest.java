package io.penstock.node.party;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.budget.Permits;
import io.penstock.node.replay.LruModel;
import io.penstock.node.replay.Replay;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.TraceGenerator;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The engine on a tier in this process, against the textbook.
final class ReplayTest {
  private static final CacheSpace SPACE = BlockShape.of(1 << 10, 4).space("replay");
  private static final int REQUESTS = 300;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 10, 200, 1_000, 5_000, Long.MAX_VALUE})
  void deliveries_oneAtATime_equalThePlainLruWhateverTheCapacity(long capacityBlocks) {
    for (long seed = 1; seed <= 2; seed++) {
      try (Bench bench = new Bench(capacityBlocks)) {
        List<Delivery> deliveries = bench.replay(ReplayPace.defaults(), seed);

        assertEqualToModel(deliveries, new LruModel(capacityBlocks), seed);
        assertThat(deliveries).allSatisfy(delivery -> {
          assertThat(delivery.bytesDelivered()).isEqualTo((long) delivery.blocks() * SPACE.layout().blockBytes());
          assertThat(delivery.bytesVerified()).isEqualTo(delivery.bytesDelivered());
          assertThat(delivery.passes()).isEqualTo(1);
          assertThat(delivery.lastLayerNanos()).isGreaterThanOrEqualTo(delivery.firstLayerNanos()).isPositive();
        });
        assertThat(bench.leakedBlocks()).isZero();
      }
    }
  }

  @Test
  void deliveries_manyAtATime_areAllWholeAndDecideInTraceOrder() {
    try (Bench bench = new Bench(1_000)) {
      List<Delivery> deliveries = bench.replay(ReplayPace.defaults().withConcurrency(8), 3);

      LruModel model = new LruModel(1_000);
      long hits = requests(3).stream().mapToLong(request -> model.request(request.hashIds()).hits()).sum();
      assertThat(deliveries).hasSize(REQUESTS);
      assertThat(deliveries.stream().mapToLong(Delivery::hits).sum()).isEqualTo(hits);
      assertThat(deliveries).allMatch(delivery -> delivery.bytesVerified() == delivery.bytesDelivered());
      assertThat(bench.leakedBlocks()).isZero();
    }
  }

  @Test
  void deliveries_firstInFirstOut_differFromLru() {
    try (Bench lru = new Bench(500);
        Bench fifo = new Bench(500, StackOptions.defaults("dram").withPolicy(EvictionPolicy.FIFO))) {
      assertThat(hits(fifo.replay(ReplayPace.defaults(), 1))).isNotZero()
          .isLessThan(hits(lru.replay(ReplayPace.defaults(), 1)));
    }
  }

  @Test
  void deliveries_limited_endAfterExactlySoMany() {
    try (Bench bench = new Bench(100)) {
      assertThat(bench.replay(ReplayPace.defaults().withLimit(17), 1)).hasSize(17);
    }
  }

  @Test
  void deliveries_ofMoreBlocksThanAQuestionMayHave_comeInParts() {
    try (Bench bench = new Bench(1_000, 3)) {
      List<Delivery> deliveries = bench.replay(ReplayPace.defaults(), 4);

      LruModel model = new LruModel(1_000);
      List<TraceRequest> requests = requests(4);
      assertThat(deliveries.stream().map(Delivery::hits).toList())
          .isEqualTo(requests.stream().map(request -> model.request(request.hashIds()).hits()).toList());
      assertThat(deliveries.stream().map(Delivery::blocks).toList())
          .isEqualTo(requests.stream().map(TraceRequest::blocks).toList());
      assertThat(deliveries).allSatisfy(delivery -> {
        assertThat(delivery.passes()).isEqualTo(1);
        assertThat(delivery.prefixHits()).isLessThanOrEqualTo(delivery.hits());
        assertThat(delivery.bytesVerified()).isEqualTo((long) delivery.blocks() * SPACE.layout().blockBytes());
        assertThat(delivery.lastLayerNanos()).isGreaterThanOrEqualTo(delivery.firstLayerNanos()).isPositive();
      });
      assertThat(bench.leakedBlocks()).isZero();
    }
  }

  private static long hits(List<Delivery> deliveries) {
    return deliveries.stream().mapToLong(Delivery::hits).sum();
  }

  private static void assertEqualToModel(List<Delivery> deliveries, LruModel model, long seed) {
    List<TraceRequest> requests = requests(seed);
    assertThat(deliveries).hasSameSizeAs(requests);
    for (int i = 0; i < requests.size(); i++) {
      LruModel.Outcome outcome = model.request(requests.get(i).hashIds());
      Delivery delivery = deliveries.get(i);
      assertThat(new LruModel.Outcome(delivery.hits(), delivery.prefixHits())).as("request %d of seed %d", i, seed)
          .isEqualTo(outcome);
    }
  }

  private static List<TraceRequest> requests(long seed) {
    List<TraceRequest> requests = new ArrayList<>();
    TraceSource trace = trace(seed);
    for (TraceRequest request = trace.next(); request != null; request = trace.next()) {
      requests.add(request);
    }
    return requests;
  }

  private static TraceSource trace(long seed) {
    return new TraceGenerator(new GeneratorOptions(REQUESTS, seed));
  }

  /// A tier, two parties and a driver.
  private static final class Bench implements AutoCloseable {
    private final HostTier tier;
    private final Scheduler driver = Schedulers.newSingle("replay-test");
    private final Permits none = new Permits("none", 1, 1);
    private final SlabArena produced = new SlabArena("prefill", SPACE.layout(), 64, 64);

    private final int partBlocks;

    Bench(long capacityBlocks) {
      this(capacityBlocks, 65_536);
    }

    Bench(long capacityBlocks, int partBlocks) {
      this(capacityBlocks, StackOptions.defaults("dram"), partBlocks);
    }

    Bench(long capacityBlocks, StackOptions options) {
      this(capacityBlocks, options, 65_536);
    }

    Bench(long capacityBlocks, StackOptions options, int partBlocks) {
      this.partBlocks = partBlocks;
      tier = new HostTier(SPACE, capacityBlocks, options, TierListener.noop());
    }

    List<Delivery> replay(ReplayPace pace, long seed) {
      TraceKeys keys = new TraceKeys(SPACE.id(), 0);
      SliceShape shape = new SliceShape(16, 4 << 10, SliceShape.Order.LAYER_FIRST, 0);
      DecodeParty decode = new Decoder(tier, shape, keys, tier.arena(), none, System::nanoTime, partBlocks);
      PrefillParty prefill = new Prefiller(tier, shape, keys, produced);
      return new Replay(decode, prefill, pace, driver).deliveries(trace(seed)).collectList()
          .block(Duration.ofSeconds(30));
    }

    long leakedBlocks() {
      TierStat stat = tier.stat().block(Duration.ofSeconds(5));
      return tier.arena().claimedSlots() - stat.blocks() + produced.claimedSlots();
    }

    @Override
    public void close() {
      tier.close().block(Duration.ofSeconds(5));
      driver.dispose();
      produced.close();
    }
  }
}
