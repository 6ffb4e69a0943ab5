package io.penstock.lab.bench.cluster.scale;

import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.Presence;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.tier.TierEvent.SnapshotStarted;
import io.penstock.tier.spi.ForwardingTier;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A tier that says that it has the blocks of a range of numbers, without an object for any, besides those of a real
/// tier, which takes what is put.
final class RangeTier extends ForwardingTier {
  private static final List<Level> DRAM = List.of(new Level("dram", Medium.HOST));

  private final BlockTier real;
  private final NumberedKeys keys;
  private final long first;
  private final long end;

  /// @param end of the range, behind its last number
  RangeTier(BlockTier real, NumberedKeys keys, long first, long end) {
    super(real);
    this.real = real;
    this.keys = keys;
    this.first = first;
    this.end = end;
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> asked) {
    BitSet found = new BitSet(asked.size());
    List<BlockKey> others = new ArrayList<>();
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      long number = NumberedKeys.number(asked.get(i));
      if (number >= first && number < end) {
        found.set(i);
      } else {
        others.add(asked.get(i));
        places.add(i);
      }
    }
    if (others.isEmpty()) {
      return Mono.just(Presence.of(asked.size(), found));
    }
    return real.contains(others).map(present -> {
      present.bits().stream().forEach(place -> found.set(places.get(place)));
      return Presence.of(asked.size(), found);
    });
  }

  @Override
  public Mono<Integer> match(List<BlockKey> asked) {
    return contains(asked).map(Presence::prefix);
  }

  /// The real tier's snapshot and changes, with the range behind the beginning of a snapshot.
  @Override
  public Flux<TierEvent> follow() {
    return real.follow().concatMapIterable(event -> event instanceof SnapshotStarted started
        ? () -> begun(started)
        : List.of(event), 1);
  }

  private Iterator<TierEvent> begun(SnapshotStarted started) {
    return Stream.concat(Stream.<TierEvent>of(started), LongStream.range(first, end)
        .<TierEvent>mapToObj(number -> new TierEvent.Present(started.sequence(), keys.key(number), DRAM))).iterator();
  }
}
