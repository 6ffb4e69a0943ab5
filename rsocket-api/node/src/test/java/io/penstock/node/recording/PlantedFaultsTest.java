package io.penstock.node.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.recording.MemoryRecording;
import io.penstock.recording.Player;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordedTier;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.recording.RecordingFile;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.ForwardingTier;
import io.penstock.tier.spi.TierInputs;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/// Faults planted in the code under a recording are found at their event.
@Timeout(60)
final class PlantedFaultsTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final int IN_MEMORY = 6;
  private static final int ON_DISK = 24;
  private static final int BLOCKS = 20;
  private static final int ROUNDS = 12;
  /// The lease that asks in another order, and the read whose end is lost.
  private static final int PLANTED = 7;
  private static final LongConsumer UNWATCHED = events -> {};

  @TempDir
  private Path folder;

  private enum Fault {
    NONE, ORDER, WAKE_UP
  }

  /// Tiers with a fault.
  private record Faulty(Fault fault) implements Player.World {
    @Override
    public List<PlayedStoreSpec> stores(RecordedEvent opened) {
      return List.of(new PlayedStoreSpec("ssd", Medium.DISK, SPACE, Durability.WRITTEN, Long.MAX_VALUE));
    }

    @Override
    public BlockTier open(RecordedEvent opened, TierInputs inputs, List<BlockStore> stores) {
      return open(inputs, stores);
    }

    BlockTier open(TierInputs inputs, List<BlockStore> stores) {
      BlockStore disk = disk(stores.getFirst());
      BlockTier stack = new TierStack(SPACE,
          List.of(new StackLevel.Host("dram", IN_MEMORY), new StackLevel.Stored(disk, ON_DISK)),
          StackOptions.defaults("stack").withIngressBlocks(4).withTransferBlocks(3).withPromotionBlocks(2)
              .withBounceBlocks(1).withBatchBlocks(2).withPolicy(EvictionPolicy.LRU),
          TierListener.noop(), inputs, StackOptions.Sampling.none());
      return fault == Fault.ORDER ? new Reversing(stack) : stack;
    }

    /// With a lost wake-up, the store does not say once that it has read.
    private BlockStore disk(BlockStore store) {
      AtomicInteger reads = new AtomicInteger();
      return new FaultyStore(store).reads(
          read -> fault == Fault.WAKE_UP && reads.incrementAndGet() == PLANTED ? read.then(Mono.never()) : read);
    }

    @Override
    public void expire(BlockTier tier) {
      throw new IllegalStateException("nothing may expire here");
    }
  }

  /// Asks for the keys of one lease in the opposite order.
  private static final class Reversing extends ForwardingTier {
    private final BlockTier tier;
    private int leases;

    Reversing(BlockTier tier) {
      super(tier);
      this.tier = tier;
    }

    @Override
    public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
      return tier.lease(++leases == PLANTED ? keys.reversed() : keys, onMiss, scope);
    }
  }

  @Test
  void plantedOrder_isFoundAtItsEvent() {
    List<RecordedEvent> events = record(Fault.NONE);
    Path place = write(events);

    assertThat(new RecordingBisect(place, new Faulty(Fault.NONE), UNWATCHED).equal()).as("without it").isEmpty();
    Optional<RecordingBisect.Found> found =
        new RecordingBisect(place, new Faulty(Fault.ORDER), UNWATCHED).equal();

    assertThat(found).hasValueSatisfying(each -> {
      assertThat(each.first()).isEqualTo(placeOf(events, Kind.LEASED));
      assertThat(each.plays()).isOne();
    });
  }

  @Test
  void plantedLostWakeUp_isFoundAtItsEvent() {
    List<RecordedEvent> events = record(Fault.WAKE_UP);
    Path place = write(events);

    Optional<RecordingBisect.Found> found =
        new RecordingBisect(place, new Faulty(Fault.WAKE_UP), UNWATCHED).wakeUp();

    assertThat(found).hasValueSatisfying(each -> {
      assertThat(each.first()).isEqualTo(lostAt(events));
      assertThat(each.plays()).isLessThanOrEqualTo(mostPlays(events));
    });
  }

  @Test
  void plantedLostWakeUp_isFoundByRepairedCode() {
    List<RecordedEvent> events = record(Fault.WAKE_UP);

    Optional<RecordingBisect.Found> found =
        new RecordingBisect(write(events), new Faulty(Fault.NONE), UNWATCHED).equal();

    // the repaired tier goes on where the faulty one stopped: within the turn of the lost wake-up
    assertThat(found).hasValueSatisfying(each -> assertThat(each.first()).isEqualTo(lostAt(events) + 1));
  }

  @Test
  void lostWakeUpInTheLastTurn_isFound() {
    List<RecordedEvent> events = record(Fault.WAKE_UP);
    int lost = lostAt(events);
    List<RecordedEvent> hung = events.subList(0, lost + 1); // nothing happened any more

    Optional<RecordingBisect.Found> found =
        new RecordingBisect(write(hung), new Faulty(Fault.WAKE_UP), UNWATCHED).wakeUp();

    assertThat(found).hasValueSatisfying(each -> assertThat(each.first()).isEqualTo(lost));
  }

  @Test
  void wakeUpsAreNotFoundWhereNoneIsLost() {
    Path place = write(record(Fault.NONE));

    assertThat(new RecordingBisect(place, new Faulty(Fault.NONE), UNWATCHED).wakeUp()).isEmpty();
  }

  /// An invariant of the state is found where counting the events says that it must be.
  @Test
  void brokenState_isFoundInFewPlays() {
    List<RecordedEvent> events = record(Fault.NONE);
    int stored = BLOCKS / 2;
    int expected = turnOf(events, nth(events, Kind.STORED, stored));

    Optional<RecordingBisect.Found> found = new RecordingBisect(write(events), new Faulty(Fault.NONE), UNWATCHED)
        .state("fewer blocks", state -> state.tiers().stream()
            .allMatch(tier -> tier.stat().stored() < stored));

    assertThat(found).hasValueSatisfying(each -> {
      assertThat(each.first()).isEqualTo(expected);
      assertThat(each.plays()).isGreaterThan(1).isLessThanOrEqualTo(mostPlays(events));
    });
  }

  @Test
  void namedInvariantsHoldInHealthyTiers() {
    RecordingBisect bisect = new RecordingBisect(write(record(Fault.NONE)), new Faulty(Fault.NONE), UNWATCHED);

    for (StateInvariant invariant : StateInvariant.values()) {
      assertThat(bisect.state(invariant.name(), invariant)).as(invariant.name()).isEmpty();
    }
  }

  private static long mostPlays(List<RecordedEvent> events) {
    return Math.round(Math.ceil(Math.log(events.size()) / Math.log(2))) + 3;
  }

  /// Number of event `kind` of lease [#PLANTED].
  private static int placeOf(List<RecordedEvent> events, Kind kind) {
    return nth(events, kind, PLANTED);
  }

  /// Number of the `n`th event of `kind`, from 1.
  private static int nth(List<RecordedEvent> events, Kind kind, int n) {
    int left = n;
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i).kind() == kind && --left == 0) {
        return i;
      }
    }
    throw new AssertionError("there are fewer than " + n + " events " + kind);
  }

  /// Number of the event that says that the store has ended the read that is lost.
  private static int lostAt(List<RecordedEvent> events) {
    RecordedEvent read = events.get(nth(events, Kind.STORE_READ, PLANTED));
    for (int i = 0; i < events.size(); i++) {
      RecordedEvent event = events.get(i);
      if (event.kind() == Kind.STORE_DONE && event.number(0) == read.number(0)
          && event.number(1) == read.number(1)) {
        return turnOf(events, i);
      }
    }
    throw new AssertionError("the read must end");
  }

  private static int turnOf(List<RecordedEvent> events, int event) {
    int first = event;
    while (!events.get(first).begins()) {
      first--;
    }
    return first;
  }

  private Path write(List<RecordedEvent> events) {
    Path file = folder.resolve("incident.recording");
    RecordingFile.write(file, events.iterator());
    return file;
  }

  /// Fills the tier, and reads blocks from memory and from disk, with one that is missing in each lease.
  private static List<RecordedEvent> record(Fault fault) {
    MemoryRecording recording = MemoryRecording.begin();
    Queue<Runnable> work = new ArrayDeque<>(); // of the disk, which works when its reader has asked
    BlockStore disk = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, work::add);
    RecordedTier tier = RecordedTier.open(recording.turns(), 0, "", TierInputs.ofSystem(), List.of(disk),
        (inputs, stores) -> new Faulty(fault).open(inputs, stores));
    for (BlockKey key : Blocks.keys(SPACE, 0, BLOCKS)) {
      put(tier, key, work);
    }
    for (int round = 0; round < ROUNDS; round++) {
      List<BlockKey> keys = List.of(Blocks.key(SPACE, round), Blocks.key(SPACE, BLOCKS + round));
      if (!read(tier, keys, work)) {
        break;
      }
    }
    for (int i = 0; i < ROUNDS; i++) {
      answer(tier.remove(Blocks.keys(SPACE, BLOCKS + i, BLOCKS + i + 1)), work);
    }
    return recording.events();
  }

  private static void put(RecordedTier tier, BlockKey key, Queue<Runnable> work) {
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = answer(tier.reserve(List.of(key), scope), work);
      if (reservation != null) {
        List<BlockDraft> drafts = reservation.drafts();
        drafts.forEach(Blocks::produce);
        answer(reservation.commit(drafts), work);
      }
    }
  }

  /// @return whether all slices came
  private static boolean read(RecordedTier tier, List<BlockKey> keys, Queue<Runnable> work) {
    BlockScope scope = new BlockScope();
    @Nullable Lease lease = answer(tier.lease(keys, OnMiss.SKIP, scope), work);
    if (lease == null) {
      return false;
    }
    AtomicInteger ends = new AtomicInteger();
    lease.slices(SliceShape.defaults().withWindowBlocks(2), scope).doOnComplete(ends::incrementAndGet)
        .subscribe(LayerSlice::close);
    runAll(work);
    if (ends.get() == 0) { // it hangs: its reader holds what it has
      return false;
    }
    scope.close();
    return true;
  }

  private static <T> @Nullable T answer(Mono<T> call, Queue<Runnable> work) {
    CompletableFuture<T> answer = call.toFuture();
    runAll(work);
    assertThat(answer).succeedsWithin(SOON);
    return answer.join();
  }

  private static void runAll(Queue<Runnable> work) {
    for (Runnable next = work.poll(); next != null; next = work.poll()) {
      next.run();
    }
  }
}
