package io.penstock.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.KvException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.recording.Player.Outcome;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.check.RecordingVerifier;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.MemoryStore;
import io.penstock.testkit.Race;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/// What several threads did to a tier at the same moment happens again on one thread.
@Timeout(60)
final class RecordedRaceTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final int CLIENTS = 3;
  private static final int ROUNDS = 60;
  private static final int KEYS = 24;

  /// A stack of three levels, in service mode or exact.
  private record Stacks(boolean exact, EvictionPolicy policy) implements Player.World {
    Stacks(boolean exact) {
      this(exact, EvictionPolicy.LRU);
    }

    @Override
    public List<PlayedStoreSpec> stores(RecordedEvent opened) {
      return List.of(new PlayedStoreSpec("hbm", Medium.DEVICE, SPACE, Durability.VOLATILE, 4),
          new PlayedStoreSpec("ssd", Medium.DISK, SPACE, Durability.WRITTEN, Long.MAX_VALUE));
    }

    @Override
    public BlockTier open(RecordedEvent opened, TierInputs inputs, List<BlockStore> stores) {
      return new TierStack(SPACE,
          List.of(new StackLevel.Stored(stores.getFirst(), 4), new StackLevel.Host("dram", 6),
              new StackLevel.Stored(stores.getLast(), 8)),
          StackOptions.defaults("stack").withIngressBlocks(4).withTransferBlocks(3).withPromotionBlocks(2)
              .withBounceBlocks(1).withBatchBlocks(2).withExact(exact).withPolicy(policy),
          TierListener.noop(), inputs, StackOptions.Sampling.none());
    }

    @Override
    public void expire(BlockTier tier) {
      ((TierStack) tier).expire();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void whatThreadsDid_happensAgain(long seed) {
    Stacks stacks = new Stacks(seed % 2 == 0, seed > 4 ? EvictionPolicy.SESSIONS : EvictionPolicy.LRU);
    List<RecordedEvent> recording = new ArrayList<>();
    record(seed, stacks, recording);

    Outcome outcome;
    try (Player player = new Player(recording.iterator(), stacks, Payloads.ofKeys())) {
      outcome = player.play();
    }

    assertThat(outcome.difference()).as("seed %d: %s", seed, outcome.difference()).isNull();
    assertThat(outcome.events()).as("seed %d", seed).isEqualTo(recording.size()).isGreaterThan(1000);
    RecordingVerifier.of(recording).keepsAll().verify();
  }

  /// Whatever a play was in the middle of, it gives all memory back.
  @Test
  void aPlayThatStops_leavesNothing() {
    List<RecordedEvent> recording = new ArrayList<>();
    record(7, new Stacks(false), recording);
    for (int stop = 50; stop < recording.size(); stop += 97) {
      int last = stop;
      AtomicReference<TierStack> stack = new AtomicReference<>();
      Player.World world = new ForwardingWorld(new Stacks(false), stack);
      try (Player player = new Player(recording.iterator(), world, Payloads.ofKeys(), new Player.Follower() {
        @Override
        public boolean plays(long first, long end, RecordedEvent begin) {
          return end < last;
        }
      })) {
        assertThat(player.play().stopped()).isTrue();
      }
      assertThat(stack.get().arena().toString()).as("stopped before event %d", stop).contains(" 0 of ")
          .endsWith("closed");
    }
  }

  /// Remembers the stack that it opened.
  private record ForwardingWorld(Stacks stacks, AtomicReference<TierStack> opened) implements Player.World {
    @Override
    public List<PlayedStoreSpec> stores(RecordedEvent event) {
      return stacks.stores(event);
    }

    @Override
    public BlockTier open(RecordedEvent event, TierInputs inputs, List<BlockStore> stores) {
      TierStack stack = (TierStack) stacks.open(event, inputs, stores);
      opened.set(stack);
      return stack;
    }

    @Override
    public void expire(BlockTier tier) {
      stacks.expire(tier);
    }
  }

  private static void record(long seed, Stacks stacks, List<RecordedEvent> recording) {
    Turns turns = new Turns(System::nanoTime, recording::add);
    try (ExecutorService copies = Executors.newFixedThreadPool(3); Race race = new Race(CLIENTS)) {
      List<BlockStore> stores = List.of(new MemoryStore("hbm", Medium.DEVICE, SPACE, 4, copies),
          new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, copies));
      BlockTier[] plain = new BlockTier[1];
      RecordedTier tier = RecordedTier.open(turns, 0, "", TierInputs.ofSystem(), stores, (inputs, recorded) -> {
        plain[0] = stacks.open(recording.getFirst(), inputs, recorded);
        return plain[0];
      });
      race.run(client(tier, seed, 0), client(tier, seed, 1), client(tier, seed, 2));
      tier.expire(() -> stacks.expire(plain[0]));
      tier.close().block(SOON);
    }
  }

  private static Runnable client(RecordedTier tier, long seed, int id) {
    return () -> {
      Random random = new Random(seed * CLIENTS + id);
      TierHolds holds = tier.holds("client " + id);
      for (int round = 0; round < ROUNDS; round++) {
        step(tier, holds, random);
      }
      holds.close();
    };
  }

  private static void step(RecordedTier tier, TierHolds holds, Random random) {
    List<BlockKey> keys = keys(random);
    try (BlockScope scope = new BlockScope()) {
      switch (random.nextInt(9)) {
        case 0, 1 -> put(tier, keys, random, scope);
        case 2 -> blocks(tier, keys, scope);
        case 3, 4 -> slices(tier, keys, random, scope);
        case 5 -> tier.remove(keys).block(SOON);
        case 6 -> hold(holds, keys, scope);
        case 7 -> tier.session(session(random), SessionState.values()[random.nextInt(3)]).block(SOON);
        default -> holds.pin(keys, random.nextBoolean() ? Pin.none() : Pin.soft(Duration.ofMillis(1))).block(SOON);
      }
    } catch (KvException e) { // full, busy, or over: recorded like everything else
      assertThat(e).hasMessageNotContaining("must work in turns");
    }
  }

  private static List<BlockKey> keys(Random random) {
    int from = random.nextInt(KEYS);
    return Blocks.keys(SPACE, from, from + 1 + random.nextInt(3));
  }

  private static SessionUse session(Random random) {
    return new SessionUse(SessionId.of("a session of a name with " + random.nextInt(4)), random.nextInt(8),
        random.nextBoolean() ? Duration.ofMillis(random.nextInt(3)) : null);
  }

  private static void put(RecordedTier tier, List<BlockKey> keys, Random random, BlockScope scope) {
    Reservation reservation = tier.reserve(keys, PutTerms.plain().withSession(session(random)), scope).block(SOON);
    if (reservation == null) {
      return;
    }
    List<BlockDraft> drafts = reservation.drafts();
    if (random.nextInt(5) > 0 && !drafts.isEmpty()) {
      drafts.forEach(Blocks::produce);
      reservation.commit(drafts).block(SOON);
    }
    reservation.close();
  }

  private static void blocks(RecordedTier tier, List<BlockKey> keys, BlockScope scope) {
    tier.get(keys, scope).doOnNext(block -> {
      Blocks.assertBytes(block);
      block.close();
    }).blockLast(SOON);
  }

  private static void slices(RecordedTier tier, List<BlockKey> keys, Random random, BlockScope scope) {
    Lease lease = tier.lease(keys, OnMiss.SKIP, random.nextBoolean() ? session(random) : null, scope).block(SOON);
    if (lease == null) {
      return;
    }
    int most = random.nextInt(6);
    BaseSubscriber<LayerSlice> reader = new BaseSubscriber<>() {
      private int came;

      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        request(1);
      }

      @Override
      protected void hookOnNext(LayerSlice slice) {
        slice.spans().forEach(Blocks::assertBytes);
        slice.close();
        if (++came > most) {
          cancel();
        } else {
          request(1 + came % 2);
        }
      }

      @Override
      protected void hookOnError(Throwable error) {
        // Recorded
      }
    };
    lease.slices(SliceShape.defaults().withWindowBlocks(2).withSliceBytes(128), scope).subscribe(reader);
    while (!reader.isDisposed() && random.nextInt(1000) > 0) {
      Thread.onSpinWait();
    }
    lease.close();
  }

  private static void hold(TierHolds holds, List<BlockKey> keys, BlockScope scope) {
    ReadLease lease = holds.lease(keys, LeaseTerms.defaults().withPrefetch(true)).block(SOON);
    if (lease != null && lease.id() != 0) {
      Lease read = holds.read(lease.id(), keys, scope).block(SOON);
      if (read != null) {
        read.windows(2, scope).doOnNext(window -> window.forEach(leased -> leased.block().close())).blockLast(SOON);
      }
      holds.release(lease.id()).block(SOON);
    }
  }
}
