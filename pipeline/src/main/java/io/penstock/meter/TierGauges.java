package io.penstock.meter;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.penstock.tier.BlockTier;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Shows a tier's figures as gauges. A tier answers asynchronously and a gauge cannot wait: a gauge that is read asks
/// the tier if its figures are older than [Freshness#MAX_AGE], and shows what the tier has answered so far. A tier that
/// answers at once is shown as it is. After a failed answer the gauges show the last figures, and NaN before the first
/// answer. Gauges of levels appear with the first answer.
final class TierGauges {
  private final BlockTier tier;
  private final MeterRegistry registry;
  private final Freshness age;
  private final AtomicBoolean levelsShown = new AtomicBoolean();
  private volatile @Nullable TierStat latest;

  private TierGauges(BlockTier tier, MeterRegistry registry, LongSupplier nanos) {
    this.tier = tier;
    this.registry = registry;
    this.age = new Freshness(nanos);
  }

  /// @param nanos clock that tells the age of the figures
  static TierGauges bind(MeterRegistry registry, BlockTier tier, LongSupplier nanos) {
    TierGauges gauges = new TierGauges(tier, registry, nanos);
    TierInfo info = tier.info();
    Tags tags = TierTags.of(info.name(), info.medium());
    Gauges.gauge(registry, KvMeters.TIER_CAPACITY, tags, gauges, any -> blocks(info.capacityBlocks()));
    gauges.show(registry, KvMeters.TIER_VISIBLE, tags, TierStat::blocks);
    gauges.show(registry, KvMeters.TIER_USED, tags, TierStat::bytes);
    gauges.show(registry, KvMeters.TIER_CLAIMED, tags, TierStat::claimedBytes);
    gauges.show(registry, KvMeters.TIER_SEQUENCE, tags, TierStat::lastSequence);
    gauges.showTiering(tags);
    gauges.showHolds(tags);
    gauges.latest(); // the levels of a tier that answers at once are shown from the start
    return gauges;
  }

  /// The last answer of the tier; asks it first if that answer is old.
  private @Nullable TierStat latest() {
    if (age.claim()) {
      tier.stat().subscribe(this::show, failure -> {
        // the last figures stay, and the next reading asks again
      });
    }
    return latest;
  }

  private void showTiering(Tags tags) {
    show(registry, KvMeters.QUEUE_BLOCKS, tags, stat -> stat.tiering().queuedBlocks());
    show(registry, KvMeters.QUEUE_BYTES, tags, stat -> stat.tiering().queuedBytes());
    show(registry, KvMeters.QUEUE_PEAK, tags, stat -> stat.tiering().mostQueuedBlocks());
    show(registry, KvMeters.QUEUE_CAPACITY, tags, stat -> blocks(stat.tiering().queueBlocks()));
    show(registry, KvMeters.QUEUE_LONGEST, tags, stat -> seconds(stat.tiering().longestMillis()));
    count(KvMeters.QUEUE_TIME, tags, tiering -> seconds(tiering.queueMillis()));
    count(KvMeters.QUEUE_WITHHELD, tags, TierStat.Tiering::withheld);
    count(KvMeters.TIER_HELD, tags, TierStat.Tiering::held);
    count(KvMeters.TIER_PREFETCHED, tags, TierStat.Tiering::prefetched);
    count(KvMeters.TIER_WASTED, tags, TierStat.Tiering::wasted);
    count(KvMeters.TIER_EVICTED_FOR_ROOM, tags, TierStat.Tiering::evictedForRoom);
    count(KvMeters.TIER_ABOVE_WATERMARK, tags, TierStat.Tiering::aboveWatermark);
  }

  private void showHolds(Tags tags) {
    show(registry, KvMeters.TIER_LEASES, tags, stat -> stat.holds().leases());
    show(registry, KvMeters.TIER_KEPT, reason(tags, "leased"), stat -> stat.holds().leasedBlocks());
    show(registry, KvMeters.TIER_KEPT, reason(tags, "soft-pinned"), stat -> stat.holds().softPinned());
    show(registry, KvMeters.TIER_KEPT, reason(tags, "hard-pinned"), stat -> stat.holds().hardPinned());
    passedOver(tags, "in-use", TierStat.Holds::inUse);
    passedOver(tags, "leased", TierStat.Holds::leased);
    passedOver(tags, "soft-pinned", TierStat.Holds::softPassed);
    passedOver(tags, "hard-pinned", TierStat.Holds::hardPassed);
  }

  private static Tags reason(Tags tags, String reason) {
    return tags.and(MeterTag.REASON.asString(), reason);
  }

  private void passedOver(Tags tags, String reason, ToDoubleFunction<TierStat.Holds> figure) {
    FunctionCounter.builder(KvMeters.TIER_BLOCKED.getName(), this, gauges -> {
      TierStat stat = gauges.latest();
      return stat == null ? 0 : figure.applyAsDouble(stat.holds());
    }).description(KvMeters.TIER_BLOCKED.description()).tags(reason(tags, reason)).register(registry);
  }

  private void count(KvMeters meter, Tags tags, ToDoubleFunction<TierStat.Tiering> figure) {
    FunctionCounter.builder(meter.getName(), this, gauges -> {
      TierStat stat = gauges.latest();
      return stat == null ? 0 : figure.applyAsDouble(stat.tiering());
    }).description(meter.description()).baseUnit(meter.getBaseUnit()).tags(tags).register(registry);
  }

  /// Asks the tier; completes when the gauges show its answer.
  ///
  /// @return a cold `Mono`; each subscription asks once
  Mono<TierStat> refresh() {
    return tier.stat().doOnSubscribe(asked -> age.renew()).doOnNext(this::show);
  }

  private void show(TierStat stat) {
    latest = stat;
    if (levelsShown.compareAndSet(false, true)) {
      for (int i = 0; i < stat.levels().size(); i++) {
        showLevel(i, stat.levels().get(i));
      }
    }
  }

  private void showLevel(int number, TierStat.Level level) {
    Tags tags = TierTags.of(tier.info().name(), level);
    Gauges.gauge(registry, KvMeters.LEVEL_CAPACITY, tags, this, any -> blocks(level.capacityBlocks()));
    show(registry, KvMeters.LEVEL_VISIBLE, tags, stat -> stat.levels().get(number).blocks());
    show(registry, KvMeters.LEVEL_STORED, tags, stat -> stat.levels().get(number).storedBlocks());
    show(registry, KvMeters.LEVEL_ACTIVE, tags, stat -> active(stat.levels().get(number).health().state()));
    FunctionCounter.builder(KvMeters.LEVEL_HITS.getName(), this, gauges -> {
      TierStat stat = gauges.latest();
      return stat == null ? 0 : stat.levels().get(number).hits();
    }).description(KvMeters.LEVEL_HITS.description()).tags(tags).register(registry);
    if (level.disk() != null) {
      new DiskGauges(registry, tags, () -> {
        TierStat stat = latest();
        return stat == null ? null : stat.levels().get(number).disk();
      }).bind();
    }
  }

  private void show(MeterRegistry registry, KvMeters meter, Tags tags, ToDoubleFunction<TierStat> figure) {
    Gauges.gauge(registry, meter, tags, this, gauges -> {
      TierStat stat = gauges.latest();
      return stat == null ? Double.NaN : figure.applyAsDouble(stat);
    });
  }

  private static double active(StoreHealth.State state) {
    return switch (state) {
      case ACTIVE -> 1;
      case DEGRADED -> 0.5;
      case OFF -> 0;
    };
  }

  static double seconds(long millis) {
    return millis / 1e3;
  }

  private static double blocks(long capacity) {
    return capacity == Long.MAX_VALUE ? Double.POSITIVE_INFINITY : capacity;
  }
}
