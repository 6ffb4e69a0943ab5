package io.penstock.meter;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.penstock.tier.Medium;
import io.penstock.tier.TierListener;

/// Counts what a tier did. Every meter exists from the start, at 0, so that a dashboard shows no gaps.
///
/// Each call costs an atomic add or two and allocates nothing.
public final class MicrometerTierListener implements TierListener {
  private final Counter hits;
  private final Counter misses;
  private final Counter stored;
  private final Counter writtenBytes;
  private final Counter evicted;
  private final Counter reclaimedBytes;
  private final Counter quarantined;

  /// @param registry where the meters live
  /// @param tier configured name of the tier
  /// @param medium where its bytes rest
  public MicrometerTierListener(MeterRegistry registry, String tier, Medium medium) {
    Tags tags = TierTags.of(tier, medium);
    this.hits = counter(registry, KvMeters.TIER_REFERENCES, tags.and(MeterTag.RESULT.asString(), "hit"));
    this.misses = counter(registry, KvMeters.TIER_REFERENCES, tags.and(MeterTag.RESULT.asString(), "miss"));
    this.stored = counter(registry, KvMeters.TIER_STORED, tags);
    this.writtenBytes = counter(registry, KvMeters.TIER_WRITTEN, tags);
    this.evicted = counter(registry, KvMeters.TIER_EVICTED, tags);
    this.reclaimedBytes = counter(registry, KvMeters.TIER_RECLAIMED, tags);
    this.quarantined = counter(registry, KvMeters.TIER_QUARANTINED, tags);
  }

  @Override
  public void referenced(int references, int hit) {
    hits.increment(hit);
    misses.increment(references - hit);
  }

  @Override
  public void stored(int blocks, long bytes) {
    stored.increment(blocks);
    writtenBytes.increment(bytes);
  }

  @Override
  public void evicted(long bytes) {
    evicted.increment();
    reclaimedBytes.increment(bytes);
  }

  @Override
  public void corrupt() {
    quarantined.increment();
  }

  private static Counter counter(MeterRegistry registry, KvMeters meter, Tags tags) {
    return Counter.builder(meter.getName()).description(meter.description()).baseUnit(meter.getBaseUnit()).tags(tags).register(registry);
  }
}
