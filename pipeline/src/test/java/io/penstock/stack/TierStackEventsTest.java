package io.penstock.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.KnownBlocks;
import io.penstock.tier.Medium;
import io.penstock.tier.Presence;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/// The events of stacks tell which blocks are visible and on which levels their bytes are.
@Timeout(30)
final class TierStackEventsTest extends StackSteps {
  private static final Level DRAM = new Level("dram", Medium.HOST);
  private static final Level SSD = new Level("ssd", Medium.DISK);
  private static final int KEYS = 24;

  private MemoryStore memory = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
  private FaultyStore disk = new FaultyStore(memory);

  /// A reader with its own demand.
  private static final class Reader extends BaseSubscriber<TierEvent> {
    final KnownBlocks known = new KnownBlocks();
    int snapshots;

    @Override
    protected void hookOnSubscribe(Subscription subscription) {}

    @Override
    protected void hookOnNext(TierEvent event) {
      snapshots += event instanceof TierEvent.SnapshotStarted ? 1 : 0;
      known.apply(event);
    }
  }

  @Test
  void demotionAndPromotion_areMoves() {
    TierStack stack = stack(StackOptions.Mode.EXCLUSIVE, 1, 64);
    put(stack, 0);
    put(stack, 1);
    runTasks();
    read(stack, 0);
    runTasks();
    stack.remove(List.of(key(0))).block(SOON);
    List<TierEvent> history = history(stack);
    assertThat(history).startsWith(new TierEvent.Stored(1, key(0), List.of(DRAM)),
        new TierEvent.Stored(2, key(1), List.of(DRAM)),
        new TierEvent.Moved(3, key(0), List.of(DRAM), List.of(SSD)));
    assertThat(history).contains(
        new TierEvent.Removed(history.size(), key(0), List.of(DRAM, SSD))); // its record stays on the disk
    assertClosesClean(stack);
  }

  @Test
  void blockWrittenThrough_isOnBothLevels() {
    TierStack stack = stack(StackOptions.Mode.WRITE_THROUGH, 1, 64);
    committed(stack, List.of(key(0))).subscribe();
    runTasks();
    assertThat(history(stack)).containsExactly(new TierEvent.Stored(1, key(0), List.of(DRAM, SSD)));
    assertClosesClean(stack);
  }

  @Test
  void diskThatGoesOffAndComesBack_isOneEventEach() {
    TierStack stack = stack(StackOptions.Mode.EXCLUSIVE, 1, 64);
    put(stack, 0);
    put(stack, 1);
    runTasks();
    disk.health(StoreHealth.State.OFF);
    assertThat(present(stack, 0, 1)).isEqualTo("01");
    assertThat(folded(stack).visible()).containsExactly(key(1));
    assertThat(snapshot(stack).visible()).containsExactly(key(1));
    disk.health(StoreHealth.State.ACTIVE);
    assertThat(folded(stack).visible()).containsExactlyInAnyOrder(key(0), key(1));
    assertThat(history(stack).subList(3, 5)).containsExactly(new TierEvent.LevelDown(4, SSD, "told to be"),
        new TierEvent.LevelUp(5, SSD));
    assertClosesClean(stack);
  }

  @Test
  void blocksFoundAtTheStart_areStoredOnTheirLevel() {
    TierStack first = stack(StackOptions.Mode.EXCLUSIVE, 1, 64);
    put(first, 0);
    put(first, 1);
    runTasks();
    first.close().subscribe();
    runTasks();
    memory = memory.reopened();
    disk = new FaultyStore(memory);
    TierStack second = stack(StackOptions.Mode.EXCLUSIVE, 1, 64);
    assertThat(history(second)).containsExactly(new TierEvent.Stored(1, key(0), List.of(SSD)));
    assertThat(snapshot(second).levels(key(0))).containsExactly(SSD);
    assertClosesClean(second);
  }

  @Test
  void foldingEventsAndSnapshots_givesWhatIsVisible_andItsLevels() {
    int gaps = 0;
    for (int seed = 0; seed < 24; seed++) {
      gaps += randomWork(seed);
    }
    assertThat(gaps).as("readers that began again").isPositive();
  }

  /// Puts, reads, removals, failures of the disk, damaged records and copies under way, in the order of a seed, beside
  /// readers that begin at any time, ask for little, and fall behind the log.
  ///
  /// @return how often a reader began again
  private int randomWork(int seed) {
    Random random = new Random(seed);
    memory = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
    disk = new FaultyStore(memory);
    StackOptions.Mode mode = StackOptions.Mode.values()[seed % 2];
    TierStack stack = stack(mode, 1 + random.nextInt(6), 1 + random.nextInt(40));
    Reader all = new Reader();
    stack.follow().subscribe(all);
    all.request(Long.MAX_VALUE);
    List<Reader> readers = new ArrayList<>();
    int gaps = 0;
    for (int step = 0; step < 150; step++) {
      act(stack, random);
      if (random.nextInt(20) == 0) {
        Reader reader = new Reader();
        stack.follow().subscribe(reader);
        readers.add(reader);
      }
      readers.stream().filter(reader -> random.nextInt(3) == 0)
          .forEach(reader -> reader.request(1 + random.nextInt(4)));
      assertAgrees("seed %d, step %d".formatted(seed, step), stack, all.known);
    }
    for (Reader reader : readers) {
      reader.request(Long.MAX_VALUE);
      assertThat(reader.known.isComplete()).isTrue();
      assertAgrees("seed %d, a follower".formatted(seed), stack, reader.known);
      gaps += reader.snapshots - 1;
    }
    runTasks();
    assertLevels("seed %d".formatted(seed), stack, all.known);
    assertClosesClean(stack);
    return gaps;
  }

  private void act(TierStack stack, Random random) {
    List<BlockKey> keys = List.of(key(random.nextInt(KEYS)));
    switch (random.nextInt(12)) {
      case 0 -> stack.remove(keys).subscribe();
      case 1 -> disk.health(StoreHealth.State.values()[random.nextInt(3)]);
      case 2 -> disk.health(StoreHealth.State.ACTIVE);
      case 3 -> memory.corrupt(keys.getFirst(), 1);
      case 4 -> memory.shortage(1 + random.nextInt(2));
      case 5, 6, 7 -> {
        try (BlockScope scope = new BlockScope()) {
          stack.get(keys, scope).subscribe(block -> block.close(), error -> {});
          runTasks();
        }
      }
      case 8 -> runTasks();
      default -> committed(stack, keys).subscribe(receipts -> {}, error -> {});
    }
  }

  private static void assertAgrees(String when, TierStack stack, KnownBlocks known) {
    List<BlockKey> keys = IntStream.range(0, KEYS).mapToObj(StackSteps::key).toList();
    Presence visible = stack.contains(keys).block(SOON);
    for (int i = 0; i < KEYS; i++) {
      assertThat(known.isVisible(keys.get(i))).as("%s, key %d", when, i).isEqualTo(visible.get(i));
    }
  }

  /// With nothing under way, the levels by events are those that the figures count.
  private void assertLevels(String when, TierStack stack, KnownBlocks known) {
    disk.health(StoreHealth.State.ACTIVE);
    runTasks();
    for (TierStat.Level level : levels(stack)) {
      long told = known.visible().stream()
          .filter(key -> known.levels(key).contains(new Level(level.name(), level.medium()))).count();
      assertThat(told).as("%s, on %s", when, level.name()).isEqualTo(level.storedBlocks());
    }
  }

  private static KnownBlocks folded(TierStack stack) {
    KnownBlocks known = new KnownBlocks();
    history(stack).forEach(known::apply);
    return known;
  }

  private static KnownBlocks snapshot(TierStack stack) {
    KnownBlocks known = new KnownBlocks();
    stack.follow().takeUntil(TierEvent.SnapshotEnded.class::isInstance).toIterable().forEach(known::apply);
    return known;
  }

  private TierStack stack(StackOptions.Mode mode, int dram, int eventLogSize) {
    return new TierStack(SPACE, List.of(new StackLevel.Host("dram", dram), new StackLevel.Stored(disk, 12)),
        StackOptions.defaults("stack").withMode(mode).withIngressBlocks(4).withTransferBlocks(2)
            .withPromotionBlocks(1).withBounceBlocks(1).withBatchBlocks(2).withEventLogSize(eventLogSize),
        TierListener.noop());
  }
}
