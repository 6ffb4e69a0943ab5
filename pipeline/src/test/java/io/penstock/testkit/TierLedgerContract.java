package io.penstock.testkit;

import static io.penstock.testkit.BlockTierContract.EVENT_LOG_SIZE;
import static io.penstock.testkit.BlockTierContract.RESERVE_BLOCKS;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.KnownBlocks;
import io.penstock.tier.Presence;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierStat;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// What a [BlockTier] decides, and tells of it: the textbook LRU, events, figures.
interface TierLedgerContract extends WriteSteps {
  /// Runs of random references that a proof compares with the textbook.
  int RANDOM_RUNS = 60;

  @Test
  default void matchAndContains_areNoUse_butALeaseIs() {
    assumeTrue(contract().promises(TierPromise.EXACT_LRU));
    BlockTier tier = tier(2);
    put(tier, keys(0, 2));
    value(tier.match(keys(0, 1)));
    value(tier.contains(keys(0, 1)));
    put(tier, keys(2, 3));
    assertThat(value(tier.contains(keys(0, 3)))).as("0 was the least recently used").isEqualTo(presence(3, 1, 2));
    assertThat(got(tier, keys(1, 2))).hasSize(1);
    put(tier, keys(3, 4));
    assertThat(value(tier.contains(keys(0, 4)))).as("1 was used").isEqualTo(presence(4, 1, 3));
  }

  @Test
  default void info_saysWhatTheTierIs() {
    BlockTier tier = tier(8);
    assertThat(tier.info().space()).isEqualTo(SPACE);
    assertThat(tier.info().name()).isNotBlank();
    assertThat(tier.info().capacityBlocks()).isEqualTo(8);
  }

  @Test
  default void decisions_equalTheTextbookLru_onRandomReferences() {
    decisions_equalTheTextbookLru_onRandomReferences(RANDOM_RUNS / 4);
  }

  @Tag("proof")
  @Test
  default void decisions_equalTheTextbookLru_onRandomReferences_atLength() {
    decisions_equalTheTextbookLru_onRandomReferences(RANDOM_RUNS);
  }

  private void decisions_equalTheTextbookLru_onRandomReferences(int runs) {
    assumeTrue(contract().promises(TierPromise.EXACT_LRU));
    for (int seed = 0; seed < runs; seed++) {
      Random random = new Random(seed);
      int capacity = 1 + random.nextInt(6);
      BlockTier tier = tier(capacity);
      LinkedHashSet<BlockKey> model = new LinkedHashSet<>();
      long hits = 0;
      long misses = 0;
      for (int step = 0; step < 60; step++) {
        String message = "seed %d, step %d".formatted(seed, step);
        List<BlockKey> keys = someKeys(random, 12, 1 + random.nextInt(RESERVE_BLOCKS));
        switch (random.nextInt(contract().reservesAtOnce() ? 6 : 5)) {
          case 0 -> assertThat(value(tier.remove(keys))).as(message).isEqualTo(removeFrom(model, keys));
          case 5 -> {
            put(tier, keys);
            for (BlockKey key : keys) { // one at a time: a key may have been evicted by those before it
              if (!model.contains(key)) {
                reference(model, key, capacity);
              }
            }
          }
          default -> {
            BitSet expected = new BitSet();
            for (int i = 0; i < keys.size(); i++) {
              expected.set(i, reference(model, keys.get(i), capacity));
            }
            assertThat(admitAndPut(tier, keys)).as(message).isEqualTo(Presence.of(keys.size(), expected));
            hits += expected.cardinality();
            misses += keys.size() - expected.cardinality();
          }
        }
        assertThat(visible(tier, 12)).as(message).containsExactlyInAnyOrderElementsOf(model);
      }
      TierStat stat = value(tier.stat());
      assertThat(stat.hits()).as("seed %d", seed).isEqualTo(hits);
      assertThat(stat.misses()).as("seed %d", seed).isEqualTo(misses);
      assertThat(stat.blocks()).isEqualTo(model.size());
      assertIdle(tier, "seed " + seed);
    }
  }

  @Test
  default void events_areNumberedWithoutHoles_andTellWhatIsVisible() {
    assumeTrue(contract().promises(TierPromise.EVENTS));
    BlockTier tier = tier(3);
    Collector<TierEvent> live = new Collector<>(Long.MAX_VALUE);
    tier.events(0).subscribe(live);
    Random random = new Random(5);
    for (int i = 0; i < 10; i++) {
      put(tier, someKeys(random, 8, 2));
      value(tier.remove(someKeys(random, 8, 1)));
    }
    long last = value(tier.stat()).lastSequence();
    await("all events", () -> live.seen() >= last);
    List<TierEvent> events = live.items().subList(0, (int) last);
    assertThat(events).extracting(TierEvent::sequence)
        .isEqualTo(IntStream.rangeClosed(1, (int) last).mapToObj(Long::valueOf).toList());
    KnownBlocks told = new KnownBlocks();
    for (TierEvent event : events) {
      switch (event) {
        case TierEvent.Stored stored -> assertThat(told.isVisible(stored.key())).as("%s", event).isFalse();
        case TierEvent.Moved moved -> assertThat(told.levels(moved.key())).as("%s", event).isEqualTo(moved.from());
        case TierEvent.Evicted gone -> assertThat(told.levels(gone.key())).as("%s", event).isEqualTo(gone.levels());
        case TierEvent.Removed gone -> assertThat(told.levels(gone.key())).as("%s", event).isEqualTo(gone.levels());
        default -> throw new AssertionError(event);
      }
      told.apply(event);
    }
    assertThat(visible(tier, 8)).containsExactlyInAnyOrderElementsOf(told.visible());
    assertThat(requireNonNull(tier.events(last - 2).take(2).collectList().block(PATIENCE)))
        .isEqualTo(events.subList((int) last - 2, (int) last));
    live.cancel();
  }

  @Test
  default void events_forASlowReader_skipWhatIsNoLongerKept() {
    assumeTrue(contract().promises(TierPromise.EVENTS));
    BlockTier tier = tier(2);
    Collector<TierEvent> slow = new Collector<>(1);
    tier.events(0).subscribe(slow);
    for (int i = 0; i < EVENT_LOG_SIZE; i++) {
      put(tier, keys(i, i + 1));
    }
    long last = value(tier.stat()).lastSequence();
    assertThat(last).isGreaterThan(EVENT_LOG_SIZE + 10);
    await("the first", () -> slow.seen() == 1);
    slow.ask(Long.MAX_VALUE);
    await("the last", () -> slow.items().getLast().sequence() == last);
    long expected = 1;
    long skips = 0;
    for (TierEvent event : slow.items()) {
      if (event instanceof TierEvent.Skipped skipped) {
        assertThat(skipped.sequence()).isEqualTo(expected + skipped.count() - 1);
        skips++;
      } else {
        assertThat(event.sequence()).isEqualTo(expected);
      }
      expected = event.sequence() + 1;
    }
    assertThat(skips).isPositive();
    slow.cancel();
  }

  /// Readers that begin early and late, ask for much and little, and fall behind the log.
  @Test
  default void follow_tellsEveryReader_whatIsVisible() {
    assumeTrue(contract().promises(TierPromise.EVENTS));
    for (int seed = 0; seed < 4; seed++) {
      Random random = new Random(seed);
      BlockTier tier = tier(1 + random.nextInt(20));
      List<Collector<TierEvent>> readers = new ArrayList<>();
      for (int step = 0; step < EVENT_LOG_SIZE; step++) {
        if (random.nextInt(EVENT_LOG_SIZE / 4) == 0) {
          Collector<TierEvent> reader = new Collector<>(random.nextInt(30));
          tier.follow().subscribe(reader);
          readers.add(reader);
        }
        readers.stream().filter(reader -> random.nextInt(3) == 0).forEach(reader -> reader.ask(random.nextInt(1, 4)));
        if (random.nextInt(4) == 0) {
          value(tier.remove(someKeys(random, 30, 2)));
        } else {
          put(tier, someKeys(random, 30, 1));
        }
      }
      long last = value(tier.stat()).lastSequence();
      for (Collector<TierEvent> reader : readers) {
        reader.ask(Long.MAX_VALUE);
        await("the last event", () -> known(reader).isComplete() && known(reader).sequence() >= last);
        assertThat(known(reader).visible()).as("seed %d", seed)
            .containsExactlyInAnyOrderElementsOf(visible(tier, 30));
        reader.cancel();
      }
    }
  }

  private static KnownBlocks known(Collector<TierEvent> reader) {
    KnownBlocks known = new KnownBlocks();
    List.copyOf(reader.items()).forEach(known::apply);
    return known;
  }

  @Test
  default void stat_countsWhatHappened() {
    assumeTrue(contract().promises(TierPromise.EXACT_LRU));
    BlockTier tier = tier(2);
    put(tier, keys(0, 3));
    assertThat(got(tier, keys(0, 3))).hasSize(2);
    value(tier.remove(keys(2, 3)));
    assertIdle(tier, "before it is asked");
    TierStat stat = value(tier.stat());
    int bytes = SPACE.layout().blockBytes();
    assertThat(stat).isEqualTo(new TierStat(1, 2, bytes, bytes, 2, 1, 3, 1, 0, stat.lastSequence(),
        stat.levels(), stat.tiering()).withHolds(stat.holds()));
    if (contract().promises(TierPromise.EVENTS)) {
      assertThat(events(tier, 5)).last().isInstanceOf(TierEvent.Removed.class);
    }
  }

  private static boolean reference(LinkedHashSet<BlockKey> model, BlockKey key, int capacity) {
    boolean hit = model.remove(key);
    model.add(key);
    if (model.size() > capacity) {
      model.removeFirst();
    }
    return hit;
  }

  private static Presence removeFrom(LinkedHashSet<BlockKey> model, List<BlockKey> keys) {
    BitSet removed = new BitSet();
    for (int i = 0; i < keys.size(); i++) {
      removed.set(i, model.remove(keys.get(i)));
    }
    return Presence.of(keys.size(), removed);
  }
}
