package io.penstock.meter;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.penstock.tier.Medium;
import io.penstock.tier.TierEvent.Level;
import io.penstock.tier.TierListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Counts the work of a tier. Every meter exists from the start, at 0, so that a dashboard shows no gaps. Only moves
/// between two levels appear with the first move.
///
/// Each call costs an atomic add or two; a move looks up its pair of levels as well. Safe from any thread.
final class MicrometerTierListener implements TierListener {
  private final Counter hits;
  private final Counter misses;
  private final Counter stored;
  private final Counter writtenBytes;
  private final Counter evicted;
  private final Counter reclaimedBytes;
  private final Counter quarantined;
  private final Counter lost;
  private final Map<Route, Moves> moves = new ConcurrentHashMap<>();
  private final MeterRegistry registry;
  private final Tags tags;

  private record Route(String from, String to) {}

  private record Moves(Counter blocks, Counter bytes) {}

  /// @param registry where the meters live
  /// @param tier configured name of the tier
  /// @param medium where its bytes are stored
  public MicrometerTierListener(MeterRegistry registry, String tier, Medium medium) {
    this.registry = registry;
    this.tags = TierTags.of(tier, medium);
    this.hits = counter(registry, KvMeters.TIER_REFERENCES, tags.and(MeterTag.RESULT.asString(), "hit"));
    this.misses = counter(registry, KvMeters.TIER_REFERENCES, tags.and(MeterTag.RESULT.asString(), "miss"));
    this.stored = counter(registry, KvMeters.TIER_STORED, tags);
    this.writtenBytes = counter(registry, KvMeters.TIER_WRITTEN, tags);
    this.evicted = counter(registry, KvMeters.TIER_EVICTED, tags);
    this.reclaimedBytes = counter(registry, KvMeters.TIER_RECLAIMED, tags);
    this.quarantined = counter(registry, KvMeters.TIER_QUARANTINED, tags);
    this.lost = counter(registry, KvMeters.TIER_LOST, tags);
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

  @Override
  public void lost(int blocks) {
    lost.increment(blocks);
  }

  @Override
  public void moved(Level from, Level to, int blocks, long bytes) {
    Moves move = moves.computeIfAbsent(new Route(from.name(), to.name()), this::moves);
    move.blocks().increment(blocks);
    move.bytes().increment(bytes);
  }

  private Moves moves(Route route) {
    Tags both = tags.and(MeterTag.FROM.asString(), route.from(), MeterTag.TO.asString(), route.to());
    return new Moves(counter(registry, KvMeters.TIER_MOVED, both), counter(registry, KvMeters.TIER_CARRIED, both));
  }

  private static Counter counter(MeterRegistry registry, KvMeters meter, Tags tags) {
    return Counter.builder(meter.getName()).description(meter.description()).baseUnit(meter.getBaseUnit()).tags(tags)
        .register(registry);
  }
}
