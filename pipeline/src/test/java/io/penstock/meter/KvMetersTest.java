package io.penstock.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.pool.curve.HitRateCurve;
import io.penstock.pool.curve.WhatIf;
import io.penstock.pool.share.SharedMemory;
import io.penstock.stack.HostTier;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent.Level;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.ForwardingTier;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

final class KvMetersTest {
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final BlockLayout LAYOUT = BlockLayout.attention(2, 4, 1, 8, ElementType.BF16);
  private static final CacheSpace SPACE = CacheSpace.of("meters", LAYOUT);

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final AtomicLong nanos = new AtomicLong();
  private final PenstockMeters meters = PenstockMeters.in(registry, nanos::get);
  private final TierListener listener = meters.listener("dram", Medium.HOST);
  private final HostTier tier = new HostTier(SPACE, 2, StackOptions.defaults("dram"), listener);
  private final ByteBudget budget = new ByteBudget("node", 1 << 20, 4);
  private final SlabArena arena = new SlabArena("test", LAYOUT, 4, 1);

  @AfterEach
  void close() {
    tier.close().block(SOON);
    arena.close();
  }

  @Test
  void everyMeterOfTheCatalogue_isRegisteredWithItsTypeUnitAndTags() {
    meters.bind(tier).bind(budget).bind("dram", tier.arena()).bindServer(() -> 3, () -> 4, () -> 5);
    StreamMeters streams = meters.streams();
    streams.ended("get", "inline", 4096, 2_000_000, Map.of("reader", 1_000_000L), "transient");
    TransferMeters transfers = meters.transfers(List.of("timeout"));
    transfers.ended("tcp", "read", new TransferMeters.Times(1, 2, 3), null);
    transfers.carried("tcp", "read", "inline", 4096);
    transfers.connected("tcp", 5);
    transfers.disconnected("tcp", "idle");
    transfers.retried();
    transfers.unreachable();
    transfers.show(() -> 1, () -> 2, () -> 3);
    WireMeters wire = meters.connections(List.of("address"), List.of("tcp"));
    wire.refused("address");
    wire.connected("tcp");
    wire.disconnected("tcp", "lost");
    wire.bytes("tcp", () -> 1, () -> 2);
    meters.bindMemory("plain", () -> 5).bindMemory(() -> 7, () -> 6)
        .bind(new SharedMemory("dram", 1 << 20, ChunkSource.ofSystem()));
    listener.moved(new Level("dram", Medium.HOST), new Level("more", Medium.HOST), 1, 2);
    CopyMeters copies = meters.copies("npu0");
    copies.show(() -> 1, () -> 2);
    copies.called("host_to_device", "batch", 3, 4, 5);
    copies.failed(true, "rt_stream_sync_timeout", 1);
    meters.fetches("dram");
    SideCarMeters sideCar = meters.sideCar(() -> 1, () -> 2, () -> 3);
    sideCar.copied(() -> 4, () -> 5);
    sideCar.failed("too_many", () -> 6);
    RequestMeters requests = meters.requests();
    requests.show(new PrefillConnector(LifecycleOptions.defaults(), requests, VirtualTimeScheduler.create()));
    BlockTier onDisk = onDisk(new TierStat.Disk(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, List.of()));
    meters.bind(onDisk);
    meters.bind(tier.info(), () -> whatIf(0.5));

    for (KvMeters meter : KvMeters.values()) {
      assertThat(registry.find(meter.getName()).meters()).as(meter.getName()).isNotEmpty().allSatisfy(found -> {
        assertThat(found.getId().getType()).isEqualTo(meter.getType());
        assertThat(found.getId().getBaseUnit()).isEqualTo(meter.getBaseUnit());
        assertThat(found.getId().getDescription()).isEqualTo(meter.description());
        assertThat(found.getId().getTags()).extracting(Tag::getKey).containsExactlyInAnyOrderElementsOf(keys(meter));
      });
    }
    assertThat(registry.getMeters()).extracting(Meter::getId).extracting(Meter.Id::getName)
        .allSatisfy(name -> assertThat(Arrays.stream(KvMeters.values()).map(KvMeters::getName)).contains(name));
    onDisk.close().block(SOON);
  }

  @Test
  void whatIf_showsTheNewestEstimate() {
    AtomicReference<WhatIf> estimate = new AtomicReference<>(
        new WhatIf(new HitRateCurve(0, 1, 0, 100, List.of()), false, List.of(new WhatIf.Level("dram", 10))));
    meters.bind(tier.info(), estimate::get);
    assertThat(whatIfAt("2.0")).isNaN();
    estimate.set(whatIf(0.5));
    assertThat(whatIfAt("2.0")).as("within a second").isNaN();
    nanos.addAndGet(Freshness.MAX_AGE.toNanos());
    assertThat(whatIfAt("2.0")).isEqualTo(0.5);
    assertThat(whatIfAt("1.0")).isEqualTo(0.25);
    assertThat(whatIfAt("4.0")).isEqualTo(0.5);
  }

  private double whatIfAt(String factor) {
    return registry.get("penstock.level.whatif.hit.rate").tags("level", "dram", "tier", "dram", "factor", factor)
        .gauge()
        .value();
  }

  /// Of a tier of 10 blocks, whose hit rate grows along a line up to 20 blocks.
  private static WhatIf whatIf(double most) {
    return new WhatIf(new HitRateCurve(8, 1, 4, 100, List.of(HitRateCurve.Point.exact(20, most))), false,
        List.of(new WhatIf.Level("dram", 10)));
  }

  @Test
  void names_areUniqueAndCarryNoUnit() {
    Set<String> names = Arrays.stream(KvMeters.values()).map(KvMeters::getName).collect(Collectors.toSet());

    assertThat(names).hasSameSizeAs(KvMeters.values())
        .allSatisfy(name -> assertThat(name).matches("penstock(\\.[a-z]+)+")
            .doesNotContain("bytes", "seconds"));
  }

  @Test
  void tier_whatItDid_isCounted() {
    put(0);
    put(1);
    put(2); // evicts 0
    lease(key(0), key(1), key(2), key(3));

    assertThat(counted(KvMeters.TIER_STORED)).isEqualTo(3);
    assertThat(counted(KvMeters.TIER_WRITTEN)).isEqualTo(3.0 * LAYOUT.blockBytes());
    assertThat(counted(KvMeters.TIER_EVICTED)).isEqualTo(1);
    assertThat(counted(KvMeters.TIER_RECLAIMED)).isEqualTo(LAYOUT.blockBytes());
    assertThat(registry.get(KvMeters.TIER_REFERENCES.getName()).tag("result", "hit").counter().count()).isEqualTo(2);
    assertThat(registry.get(KvMeters.TIER_REFERENCES.getName()).tag("result", "miss").counter().count()).isEqualTo(2);
  }

  @Test
  void tierGauges_askTheTierWhenTheyAreRead_atMostOnceASecond() {
    meters.bind(tier).bind(tier);
    assertThat(gauge(KvMeters.TIER_VISIBLE)).isZero();
    put(0);
    assertThat(gauge(KvMeters.TIER_VISIBLE)).as("within a second").isZero();
    nanos.addAndGet(Freshness.MAX_AGE.toNanos());
    assertThat(gauge(KvMeters.TIER_VISIBLE)).isEqualTo(1);
    put(1);

    assertThat(gauge(KvMeters.TIER_USED)).isEqualTo(LAYOUT.blockBytes());
    assertThat(gauge(KvMeters.TIER_CAPACITY)).isEqualTo(2);
    assertThat(gauge(KvMeters.TIER_SEQUENCE)).isEqualTo(1);
    meters.refresh(tier).block(SOON);
    assertThat(gauge(KvMeters.TIER_SEQUENCE)).as("asked at once").isEqualTo(2);
  }

  @Test
  void tierGauges_ofATierThatFails_keepTheLastFigures_andAskAgain() {
    AtomicReference<Mono<TierStat>> answer = new AtomicReference<>(Mono.never());
    AtomicLong asked = new AtomicLong();
    meters.bind(new ForwardingTier(tier) {
      @Override
      public Mono<TierStat> stat() {
        asked.incrementAndGet();
        return answer.get();
      }
    });
    assertThat(gauge(KvMeters.TIER_VISIBLE)).as("no answer yet").isNaN();
    answer.set(tier.stat());
    nanos.addAndGet(Freshness.MAX_AGE.toNanos());
    assertThat(gauge(KvMeters.TIER_VISIBLE)).isZero();
    answer.set(Mono.error(new IllegalStateException("gone")));
    nanos.addAndGet(Freshness.MAX_AGE.toNanos());

    assertThat(gauge(KvMeters.TIER_VISIBLE)).isZero();
    assertThat(asked).hasValue(3);
  }

  /// The rules of Prometheus for units: seconds and bytes, or a word for what is counted.
  @Test
  void units_areBaseUnits() {
    assertThat(KvMeters.values()).extracting(KvMeters::getBaseUnit)
        .containsOnly(null, "seconds", "bytes", "blocks", "slots", "segments", "elements", "problems");
    StreamMeters streams = meters.streams();
    streams.ended("get", "inline", 1, 2_000_000_000L, Map.of("peer", 1_500_000_000L), null);
    streams.bytesDelayed(250_000_000);
    meters.transfers(List.of()).ended("tcp", "read", new TransferMeters.Times(500_000_000, 750_000_000, 0), null);

    assertThat(registry.get("penstock.stream.waited").tag("reason", "peer").counter().count()).isEqualTo(1.5);
    assertThat(registry.get("penstock.limit.delayed").counter().count()).isEqualTo(0.25);
    assertThat(registry.get("penstock.transfer.waited").tag("reason", "connect").counter().count()).isEqualTo(0.5);
    assertThat(registry.get("penstock.transfer.waited").tag("reason", "queue").counter().count()).isEqualTo(0.75);
  }

  @Test
  void stack_whatMovedAndWhereItIs_isShownByLevel() {
    MemoryStore ssd = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run);
    FaultyStore disk = new FaultyStore(ssd);
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("ram", 1), new StackLevel.Stored(disk, 4)),
        StackOptions.defaults("stack"),
        meters.listener("stack", Medium.HOST));
    put(stack, 0);
    put(stack, 1); // 0 goes down
    put(stack, 2); // 1 goes down
    disk.puts(put -> Mono.error(new IllegalStateException("full")));
    put(stack, 3); // 2 is lost
    try (BlockScope scope = new BlockScope()) {
      assertThat(stack.get(List.of(key(0)), scope).count().block(SOON)).as("0 comes up, 3 is lost").isEqualTo(1);
    }
    meters.bind(stack);

    assertThat(registry.get("penstock.tier.moved").tags("from", "ram", "to", "ssd").counter().count()).isEqualTo(2);
    assertThat(registry.get("penstock.tier.carried").tags("from", "ssd", "to", "ram").counter().count())
        .isEqualTo(LAYOUT.blockBytes());
    assertThat(registry.get("penstock.tier.lost").tag("tier", "stack").counter().count()).isEqualTo(2);
    assertThat(registry.get("penstock.level.visible").tags("level", "ssd", "medium", "disk").gauge().value())
        .isEqualTo(1);
    assertThat(registry.get("penstock.level.stored").tags("level", "ssd").gauge().value()).as("with the copy of 0")
        .isEqualTo(2);
    assertThat(registry.get("penstock.level.hits").tags("level", "ssd").functionCounter().count()).isEqualTo(1);
    assertThat(registry.get("penstock.level.capacity").tags("level", "ram").gauge().value()).isEqualTo(1);
    stack.close().block(SOON);
  }

  @Test
  void disk_whatItDoesBesides_isShownByLevel() {
    BlockTier stack =
        onDisk(new TierStat.Disk(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, List.of("sync: no")));
    meters.bind(stack);

    assertThat(
        ofDisk("unsynced", "unsynced.age", "segments", "held", "live", "write.amplification", "problems"))
        .containsExactly(1.0, 0.002, 6.0, 7.0, 8.0, 19.0 / 9, 1.0);
    assertThat(Stream
        .of("uncertain", "put", "moved", "reclaimed", "scrub.passes", "scrubbed", "damaged", "unreadable", "unkept")
        .map(name -> registry.get("penstock.disk." + name).tags("tier", "stack", "level", "ssd", "medium", "disk")
            .functionCounter().count()))
        .containsExactly(5.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0);
    assertThat(registry.get("penstock.disk.syncs").tag("result", "done").functionCounter().count()).isEqualTo(3);
    assertThat(registry.get("penstock.disk.syncs").tag("result", "failed").functionCounter().count()).isEqualTo(4);
    stack.close().block(SOON);
  }

  private List<Double> ofDisk(String... names) {
    return Stream.of(names).map(name -> registry.get("penstock.disk." + name).gauge().value()).toList();
  }

  private static BlockTier onDisk(TierStat.Disk told) {
    BlockStore disk =
        new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run)).disk(told);
    return new TierStack(SPACE, List.of(new StackLevel.Host("ram", 1), new StackLevel.Stored(disk, 4)),
        StackOptions.defaults("stack"), TierListener.noop());
  }

  @Test
  void budgetAndArena_showWhatIsInUse() {
    meters.bind(budget).bind("spare", arena);
    try (BlockScope scope = new BlockScope()) {
      budget.acquire(1000, scope).block(SOON);
      List.of(arena.tryClaim(List.of(key(7), key(8)))).getFirst().forEach(scope::adopt);

      assertThat(gauge(KvMeters.BUDGET_IN_FLIGHT)).isEqualTo(1000);
      assertThat(gauge(KvMeters.ARENA_CLAIMED)).isEqualTo(2);
    }

    assertThat(gauge(KvMeters.BUDGET_IN_FLIGHT)).isZero();
    assertThat(gauge(KvMeters.BUDGET_PEAK)).isEqualTo(1000);
    assertThat(gauge(KvMeters.BUDGET_WAITING)).isZero();
    assertThat(gauge(KvMeters.BUDGET_CAPACITY)).isEqualTo(1 << 20);
    assertThat(gauge(KvMeters.ARENA_CLAIMED)).isZero();
    assertThat(gauge(KvMeters.ARENA_HIGH_WATER)).isEqualTo(2);
    assertThat(gauge(KvMeters.ARENA_CAPACITY)).isEqualTo(4);
  }

  @Test
  void server_showsConnectionsAndStreams() {
    meters.bindServer(() -> 3, () -> 4, () -> 5);

    assertThat(gauge(KvMeters.WIRE_CONNECTIONS)).isEqualTo(3);
    assertThat(gauge(KvMeters.WIRE_STREAMS)).isEqualTo(4);
  }

  private double counted(KvMeters meter) {
    return registry.get(meter.getName()).counter().count();
  }

  private double gauge(KvMeters meter) {
    return registry.get(meter.getName()).gauge().value();
  }

  private static List<String> keys(KvMeters meter) {
    return Arrays.stream(meter.getKeyNames()).map(KeyName::asString).toList();
  }

  private void put(int number) {
    put(tier, number);
  }

  private static void put(BlockTier tier, int number) {
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = tier.reserve(List.of(key(number)), scope).block(SOON);
      reservation.drafts().forEach(draft -> draft.produced(GranuleRange.all(LAYOUT)));
      reservation.commit(reservation.drafts()).block(SOON);
    }
  }

  private void lease(BlockKey... keys) {
    try (BlockScope scope = new BlockScope()) {
      Lease lease = tier.lease(Stream.of(keys).toList(), OnMiss.SKIP, scope).block(SOON);
      assertThat(lease.hits().count()).isEqualTo(2);
    }
  }

  private static BlockKey key(int number) {
    return SPACE.key(new BlockHash(0, number + 1));
  }
}
