package io.penstock.node.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SliceShape;
import io.penstock.node.recording.RecordingBisect.Found;
import io.penstock.recording.Player;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordedTier;
import io.penstock.recording.Turns;
import io.penstock.recording.check.Rules;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.recording.RecordingFile;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import io.penstock.tier.spi.TierInputs;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/// Faults that are planted in a tier are recorded and found at their event.
@Timeout(60)
final class RecordingBisectTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final int ROUNDS = 40;

  @TempDir
  private Path folder;

  /// What is wrong in the tiers of a world.
  ///
  /// @param swapped event whose decision is reported after the next; 0 for none
  /// @param lost read of the disk whose end the tier does not hear of; 0 for none
  private record Faults(int swapped, int lost) {
    static final Faults NONE = new Faults(0, 0);
  }

  /// A stack of two levels.
  private record Stacks(Faults faults) implements Player.World {
    @Override
    public List<PlayedStoreSpec> stores(RecordedEvent opened) {
      return List.of(new PlayedStoreSpec("ssd", Medium.DISK, SPACE, Durability.WRITTEN, Long.MAX_VALUE));
    }

    @Override
    public BlockTier open(RecordedEvent opened, TierInputs inputs, List<BlockStore> stores) {
      return new TierStack(SPACE,
          List.of(new StackLevel.Host("dram", 6), new StackLevel.Stored(new LosingStore(stores.getFirst(),
              faults.lost), 40)),
          StackOptions.defaults("stack").withIngressBlocks(4).withTransferBlocks(4).withPromotionBlocks(2)
              .withBounceBlocks(1).withBatchBlocks(2).withExact(true).withPolicy(EvictionPolicy.LRU),
          TierListener.noop(), new SwappingInputs(inputs, faults.swapped), StackOptions.Sampling.none());
    }

    @Override
    public void expire(BlockTier tier) {
      ((TierStack) tier).expire();
    }
  }

  /// A disk of which the tier hears nothing after one of its reads.
  private static final class LosingStore implements BlockStore {
    private final BlockStore store;
    private final int lost;
    private int reads;

    LosingStore(BlockStore store, int lost) {
      this.store = store;
      this.lost = lost;
    }

    @Override
    public String name() {
      return store.name();
    }

    @Override
    public Medium medium() {
      return store.medium();
    }

    @Override
    public CacheSpace space() {
      return store.space();
    }

    @Override
    public Durability durability() {
      return store.durability();
    }

    @Override
    public long capacityBlocks() {
      return store.capacityBlocks();
    }

    @Override
    public Mono<List<StoredBlock>> put(List<Block> blocks) {
      return store.put(blocks);
    }

    @Override
    public Mono<Void> read(List<? extends StoredBlock> blocks, List<BlockDraft> drafts, GranuleRange range) {
      Mono<Void> read = store.read(blocks, drafts, range);
      return ++reads == lost ? read.then(Mono.never()) : read;
    }

    @Override
    public List<StoredBlock> recovered() {
      return store.recovered();
    }

    @Override
    public Mono<Void> close() {
      return store.close();
    }
  }

  /// Inputs that report two decisions in the wrong order.
  private static final class SwappingInputs implements TierInputs {
    private final TierInputs inputs;
    private final int swapped;
    private int decisions;
    private @Nullable TierEvent held;

    SwappingInputs(TierInputs inputs, int swapped) {
      this.inputs = inputs;
      this.swapped = swapped;
    }

    @Override
    public long nanos() {
      return inputs.nanos();
    }

    @Override
    public long draw() {
      return inputs.draw();
    }

    @Override
    public ChunkSource chunks() {
      return inputs.chunks();
    }

    @Override
    public boolean isHeld(Block block) {
      return inputs.isHeld(block);
    }

    @Override
    public void back(int slot, Runnable giveBack) {
      inputs.back(slot, giveBack);
    }

    @Override
    public void decided(TierEvent event) {
      TierEvent before = held;
      held = null;
      if (++decisions == swapped) {
        held = event;
        return;
      }
      inputs.decided(event);
      if (before != null) {
        inputs.decided(before);
      }
    }
  }

  @Test
  void aPlantedOrderingBug_isFoundAtItsEvent() {
    int swapped = 100;
    Path recording = record(new Faults(swapped, 0));
    List<RecordedEvent> events = Recordings.all(recording);
    long planted = firstDecisionWith(events, swapped + 1);

    assertThat(bisect(recording, new Faults(swapped, 0)).equal()).isEmpty(); // the faulty code does it again
    assertFound(bisect(recording, new Faults(swapped, 0)).rule(Rules.named("visible")), planted, events.size());
    assertThat(bisect(recording, Faults.NONE).equal()).hasValueSatisfying(found -> {
      assertThat(found.what()).contains(" tier 0 [" + swapped + "] ");
      assertThat(found.first()).isBetween(firstDecisionWith(events, swapped - 1), planted);
    });
    Optional<Found> byState = bisect(recording, new Faults(swapped, 0)).state("order",
        state -> firstDecisionWith(events.subList(0, (int) state.events()), swapped + 1) < 0);
    assertThat(byState).hasValueSatisfying(found -> {
      assertThat(planted).isBetween(found.first(), found.end() - 1);
      assertThat((double) found.plays()).isBetween(5.0, Math.log(events.size()) / Math.log(2) + 3);
    });
  }

  /// Place of the first decision with this number.
  private static long firstDecisionWith(List<RecordedEvent> events, long sequence) {
    for (int i = 0; i < events.size(); i++) {
      Kind kind = events.get(i).kind();
      if ((kind == Kind.STORED || kind == Kind.MOVED || kind == Kind.EVICTED) && events.get(i).number(0) == sequence) {
        return i;
      }
    }
    return -1;
  }

  @Test
  void aPlantedLostWakeUp_isFoundAtItsEvent() {
    Faults faults = new Faults(0, 5);
    Path recording = record(faults);
    List<RecordedEvent> events = Recordings.all(recording);
    long planted = endOfRead(events, faults.lost());

    assertThat(bisect(recording, faults).equal()).isEmpty();
    assertFound(bisect(recording, faults).wakeUp(), planted, events.size());
    Optional<Found> byState = bisect(recording, faults).state("wake-up", RecordingBisectTest::isAwake);
    assertFound(byState, planted, events.size());
    assertThat(bisect(recording, faults).state("places", StateInvariant.PLACES)).isEmpty();
    assertThat(bisect(recording, faults).state("capacity", StateInvariant.CAPACITY)).isEmpty();
  }

  @Test
  void aRecordingWithoutFaults_breaksNothing() {
    Path recording = record(Faults.NONE);
    RecordingBisect bisect = bisect(recording, Faults.NONE);

    assertThat(bisect.equal()).isEmpty();
    assertThat(bisect.wakeUp()).isEmpty();
    Rules.all().forEach(rule -> assertThat(bisect.rule(rule)).as(rule.name()).isEmpty());
  }

  @Test
  void aReaderWhoseReadEndsLast_waitsForIt_thoughAnotherReadTheSameBlock() {
    List<Runnable> copies = new ArrayList<>();
    List<RecordedEvent> events = new ArrayList<>();
    RecordedTier tier = open(Faults.NONE, copies, events);
    List<BlockKey> read = Blocks.keys(SPACE, 0, 1);
    try (BlockScope scope = new BlockScope()) {
      for (int round = 0; round < 8; round++) { // the first blocks are on the disk then
        put(tier, Blocks.keys(SPACE, 2L * round, 2L * round + 2), copies, scope);
      }
      List<Reading> readings = List.of(Reading.of(tier, read, scope), Reading.of(tier, read, scope));
      assertThat(events.stream().filter(event -> event.kind() == Kind.STORE_READ)).as("reads under way").hasSize(2);
      copies.removeLast().run(); // the second reader has its bytes first
      end(copies);
      readings.forEach(Reading::end);
      tier.close().subscribe();
      end(copies);
    }

    assertThat(events.stream().filter(event -> event.kind() == Kind.SLICE)).hasSizeGreaterThanOrEqualTo(2);
    assertThat(bisect(written(events), Faults.NONE).wakeUp()).isEmpty();
  }

  /// The end of the given read of the disk.
  private static long endOfRead(List<RecordedEvent> events, int read) {
    long operation = events.stream().filter(event -> event.kind() == Kind.STORE_READ).skip(read - 1L).findFirst()
        .orElseThrow().number(1);
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i).kind() == Kind.STORE_DONE && events.get(i).number(1) == operation) {
        return i;
      }
    }
    throw new AssertionError("read must end (did not)");
  }

  /// As a user's command would ask the state: each stream that waits has a read that has not ended.
  private static boolean isAwake(PlayedState state) {
    return state.tiers().stream().allMatch(tier -> tier.streams().stream()
        .filter(stream -> stream.begin().kind().equals("slices") && stream.requested() > stream.came()).count() <= tier
            .operations().stream().filter(operation -> operation.kind().equals("store read")).count());
  }

  private static void assertFound(Optional<Found> found, long event, int events) {
    assertThat(found).hasValueSatisfying(place -> {
      assertThat(place.first()).as(place.what()).isEqualTo(event);
      assertThat((double) place.plays()).isLessThanOrEqualTo(Math.log(events) / Math.log(2) + 3);
    });
  }

  private RecordingBisect bisect(Path recording, Faults faults) {
    return new RecordingBisect(recording, new Stacks(faults), played -> {});
  }

  /// Puts blocks, and reads older ones from the disk, on one thread: copies of the disk end when they are told to.
  private Path record(Faults faults) {
    List<RecordedEvent> events = new ArrayList<>();
    List<Runnable> copies = new ArrayList<>();
    RecordedTier tier = open(faults, copies, events);
    try (BlockScope scope = new BlockScope()) {
      for (int round = 0; round < ROUNDS; round++) {
        put(tier, Blocks.keys(SPACE, 2L * round, 2L * round + 2), copies, scope);
        if (round >= 8) {
          read(tier, Blocks.keys(SPACE, 2L * (round - 8), 2L * (round - 8) + 2), copies, scope);
        }
      }
      end(copies);
      if (faults.lost() == 0) {
        Mono<Void> closed = tier.close();
        closed.subscribe();
        end(copies);
      }
    }
    return written(events);
  }

  private Path written(List<RecordedEvent> events) {
    Path file = folder.resolve("faulty.recording");
    RecordingFile.write(file, events.iterator());
    return file;
  }

  private static RecordedTier open(Faults faults, List<Runnable> copies, List<RecordedEvent> events) {
    long[] nanos = new long[1];
    Turns turns = new Turns(() -> nanos[0] += 1000, events::add);
    List<BlockStore> stores = List.of(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, copies::add));
    return RecordedTier.open(turns, 0, "", TierInputs.ofSystem(), stores,
        (inputs, recorded) -> new Stacks(faults).open(events.getFirst(), inputs, recorded));
  }

  private static void end(List<Runnable> copies) {
    while (!copies.isEmpty()) {
      copies.removeFirst().run();
    }
  }

  private static void put(RecordedTier tier, List<BlockKey> keys, List<Runnable> copies, BlockScope scope) {
    Reservation reservation = tier.reserve(keys, scope).block(SOON);
    assertThat(reservation).isNotNull();
    reservation.drafts().forEach(Blocks::produce);
    reservation.commit(reservation.drafts()).block(SOON);
    reservation.close();
    end(copies);
  }

  private static void read(RecordedTier tier, List<BlockKey> keys, List<Runnable> copies, BlockScope scope) {
    Reading reading = Reading.of(tier, keys, scope);
    end(copies);
    reading.end();
  }

  /// A reader that takes all slices of a lease.
  private record Reading(Lease lease, BaseSubscriber<LayerSlice> reader) {
    static Reading of(RecordedTier tier, List<BlockKey> keys, BlockScope scope) {
      Lease lease = tier.lease(keys, OnMiss.SKIP, scope).block(SOON);
      assertThat(lease).isNotNull();
      BaseSubscriber<LayerSlice> reader = new BaseSubscriber<>() {
        @Override
        protected void hookOnNext(LayerSlice slice) {
          slice.close();
        }
      };
      lease.slices(SliceShape.defaults().withWindowBlocks(2), scope).subscribe(reader);
      return new Reading(lease, reader);
    }

    void end() {
      if (reader.isDisposed()) {
        lease.close();
      }
    }
  }
}
