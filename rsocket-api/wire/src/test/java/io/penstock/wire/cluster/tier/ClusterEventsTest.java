package io.penstock.wire.cluster.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.KnownBlocks;
import io.penstock.tier.Medium;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

@Timeout(60)
final class ClusterEventsTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final ClusterOfTiers nodes = new ClusterOfTiers(SPACE);
  private final ClusterTier tier = new ClusterTier(new TierInfo("cluster test", Medium.REMOTE, SPACE, 256), nodes, "",
      new SplittableRandom(1), time, time);
  private final List<TierEvent> events = new ArrayList<>();
  private final KnownBlocks known = new KnownBlocks();
  private Disposable reader = () -> {};

  @AfterEach
  void close() {
    reader.dispose();
    nodes.close().block();
  }

  private void follow() {
    reader = tier.follow().subscribe(event -> {
      events.add(event);
      known.apply(event);
    });
    look();
  }

  /// The next look at who is there.
  private void look() {
    time.advanceTimeBy(Duration.ofSeconds(1));
  }

  private static List<BlockKey> keys(int from, int to) {
    return Blocks.keys(SPACE, from, to);
  }

  private List<BlockKey> visible() {
    return keys(0, 64).stream().filter(known::isVisible).toList();
  }

  private List<String> levels(int number) {
    return known.levels(Blocks.key(SPACE, number)).stream().map(TierEvent.Level::name).toList();
  }

  @Test
  void aReader_knowsTheBlocksOfAllNodes_andEachOfTheirLevels() {
    nodes.add("a", 64).put(keys(0, 4));
    nodes.add("b", 64).put(keys(2, 6));
    follow();
    assertThat(events.getFirst()).isInstanceOf(TierEvent.SnapshotStarted.class);
    assertThat(known.isComplete()).isTrue();
    assertThat(visible()).isEqualTo(keys(0, 6));
    assertThat(levels(2)).containsExactlyInAnyOrder("a dram", "b dram");
    nodes.node("b").put(keys(6, 7));
    assertThat(visible()).isEqualTo(keys(0, 7));
    nodes.node("b").tier.remove(keys(2, 7)).block();
    assertThat(visible()).isEqualTo(keys(0, 4));
    assertThat(levels(2)).containsExactly("a dram");
  }

  @Test
  void aNodeThatDies_takesTheBlocksThatItAloneHad_andComesBackWithThoseOfItsNextStart() {
    nodes.add("a", 64).put(keys(0, 4));
    nodes.add("b", 64).put(keys(2, 6));
    follow();
    nodes.node("b").mortal.die();
    look();
    assertThat(visible()).isEqualTo(keys(0, 4));
    assertThat(events).filteredOn(TierEvent.Lost.class::isInstance).hasSize(2)
        .allSatisfy(event -> assertThat(((TierEvent.Lost) event).reason()).isEqualTo("node b cannot be reached"));

    nodes.add("b", 64).put(keys(9, 10));
    look();
    assertThat(visible()).isEqualTo(List.of(0, 1, 2, 3, 9).stream().map(i -> Blocks.key(SPACE, i)).toList());
  }

  @Test
  void aLaterStart_endsTheStreamOfTheEarlierOne_whichNeitherTellsNorEnds() {
    ClusterOfTiers.Node first = nodes.add("b", 64);
    first.put(keys(0, 4));
    follow();
    assertThat(visible()).isEqualTo(keys(0, 4));
    nodes.add("b", 64).put(keys(2, 6)); // the stream of the first one is half open
    look();
    assertThat(visible()).isEmpty();
    assertThat(events).filteredOn(TierEvent.Lost.class::isInstance).hasSize(4);
    look();
    assertThat(visible()).isEqualTo(keys(2, 6));
    first.tier.remove(keys(2, 6)).block();
    assertThat(visible()).isEqualTo(keys(2, 6));
  }

  @Test
  void aMemberThatSeveralLooksLack_hasLeft_thoughItsConnectionDoesNotEnd() {
    nodes.add("a", 64).put(keys(0, 2));
    nodes.add("b", 64).put(keys(4, 6));
    follow();
    nodes.hidden.add("b");
    look();
    look();
    assertThat(visible()).hasSize(4);
    look();
    assertThat(visible()).isEqualTo(keys(0, 2));
    nodes.hidden.clear();
    look();
    assertThat(visible()).hasSize(4);
  }

  @Test
  void aReaderThatWaits_isToldTheEndOfTheEarlierStart_beforeAnythingOfTheLaterOne() {
    nodes.add("b", 64).put(keys(0, 40));
    AtomicReference<Subscription> slow = new AtomicReference<>();
    reader = tier.follow().subscribeWith(new BaseSubscriber<TierEvent>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        slow.set(subscription);
      }

      @Override
      protected void hookOnNext(TierEvent event) {
        events.add(event);
      }
    });
    slow.get().request(2);
    look();
    assertThat(events).hasSize(2);
    nodes.add("b", 64).put(keys(50, 60));
    for (int i = 0; i < 200; i++) {
      slow.get().request(1);
      look();
    }
    List<Integer> lost = new ArrayList<>();
    List<Integer> stored = new ArrayList<>();
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i) instanceof TierEvent.Lost) {
        lost.add(i);
      } else if (events.get(i) instanceof TierEvent.Stored) {
        stored.add(i);
      }
    }
    assertThat(stored).hasSize(10);
    assertThat(lost).hasSize(40).allSatisfy(at -> assertThat(at).isLessThan(stored.getFirst()));
  }

  @Test
  void steps_runOnTheSchedulerThatWasGiven() {
    Scheduler work = Schedulers.newSingle("told", true);
    ClusterTier far = new ClusterTier(new TierInfo("cluster", Medium.REMOTE, SPACE, 99), nodes, "",
        new SplittableRandom(1), Schedulers.parallel(), work);
    try {
      nodes.add("a", 64).put(keys(0, 9));
      Set<String> threads = new TreeSet<>();
      far.follow().skip(1).takeUntil(TierEvent.SnapshotEnded.class::isInstance)
          .doOnNext(event -> threads.add(Thread.currentThread().getName())).blockLast(Duration.ofSeconds(20));
      assertThat(threads).allSatisfy(name -> assertThat(name).startsWith("told")).isNotEmpty();
    } finally {
      work.dispose();
    }
  }

  @Test
  void sequences_growWithoutHoles_andTheReaderAlwaysKnowsWhatTheLivingHave() {
    for (long seed = 0; seed < 40; seed++) {
      Random random = new Random(seed);
      ClusterOfTiers some = new ClusterOfTiers(SPACE);
      for (String name : List.of("a", "b", "c")) {
        some.add(name, 24, StackOptions.defaults("dram").withEventLogSize(16));
      }
      KnownBlocks told = new KnownBlocks();
      List<Long> numbers = new ArrayList<>();
      VirtualTimeScheduler clock = VirtualTimeScheduler.create();
      Disposable reading = new ClusterTier(new TierInfo("cluster", Medium.REMOTE, SPACE, 99), some, "",
          new SplittableRandom(seed), clock, clock).follow().subscribe(event -> {
            told.apply(event);
            numbers.add(event.sequence());
          });
      Set<String> dead = new TreeSet<>();
      for (int step = 0; step < 40; step++) {
        String name = List.of("a", "b", "c").get(random.nextInt(3));
        switch (random.nextInt(6)) {
          case 0 -> {
            some.node(name).mortal.die();
            dead.add(name);
          }
          case 1 -> {
            if (dead.remove(name)) {
              some.add(name, 24);
            }
          }
          case 2 -> some.node(name).tier.remove(keys(0, random.nextInt(32))).block();
          default -> some.node(name).put(keys(random.nextInt(16), 16 + random.nextInt(16)));
        }
        clock.advanceTimeBy(Duration.ofMillis(random.nextInt(1_500)));
      }
      clock.advanceTimeBy(Duration.ofSeconds(3));
      for (BlockKey key : keys(0, 32)) {
        boolean there = List.of("a", "b", "c").stream().filter(name -> !dead.contains(name))
            .anyMatch(name -> !some.node(name).of(List.of(key)).isEmpty());
        assertThat(told.isVisible(key)).as("seed " + seed + ", " + key).isEqualTo(there);
      }
      assertThat(numbers).as("seed " + seed).isSorted();
      reading.dispose();
      some.close().block();
    }
  }
}
