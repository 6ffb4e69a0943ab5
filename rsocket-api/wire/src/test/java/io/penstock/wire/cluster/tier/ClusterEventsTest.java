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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

@Timeout(60)
final class ClusterEventsTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final ClusterOfTiers nodes = new ClusterOfTiers(SPACE);
  private final ClusterTier tier = new ClusterTier(new TierInfo("cluster test", Medium.REMOTE, SPACE, 256), nodes, "",
      new SplittableRandom(1), time);
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
          new SplittableRandom(seed), clock).follow().subscribe(event -> {
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
