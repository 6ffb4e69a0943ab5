package io.penstock.wire.slice;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SliceShape;
import io.penstock.budget.Permits;
import io.penstock.carrier.InlineCarrier;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.Race;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierListener;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.SilenceLimit;
import io.penstock.wire.credit.SilenceRules;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.AwaitTimeoutException;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.Carried;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.slice.HeldLease.Stage;
import io.rsocket.Payload;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A request that is answered by one slice.
@Timeout(60)
final class SliceAnswerTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final BlockLayout LAYOUT = SPACE.layout();
  private static final int BLOCK = LAYOUT.blockBytes();
  private static final int WINDOW = 8;
  private static final int SLICE = 4 * BLOCK;
  private static final Duration STALL = Duration.ofSeconds(30);

  private final LeakLedger leaks = new LeakLedger();
  private final Permits room = leaks.watch(new Permits("send window", SLICE, 16));
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final SilenceLimit.Rule rule = SilenceRules.of(STALL, time);
  private final HostTier tier = new HostTier(SPACE, 16, TierListener.noop());
  private final HeldLease.Gates gates = new HeldLease.Gates();
  private final AtomicInteger running = new AtomicInteger();
  private SliceShape shape = new SliceShape(WINDOW, SLICE, SliceShape.Order.LAYER_FIRST, 0);
  private boolean isUnverified;
  /// How many wait where something is held up.
  private IntSupplier waiters = () -> 0;

  @BeforeEach
  void store() {
    put(0);
    put(2);
    put(3);
    leaks.watch("streams that run", running::get);
  }

  private void put(int number) {
    try (BlockScope scope = new BlockScope()) {
      Reservation reserved = requireNonNull(tier.reserve(Blocks.keys(SPACE, number, number + 1), scope).block());
      reserved.drafts().forEach(Blocks::produce);
      reserved.commit(reserved.drafts()).block();
    }
  }

  @AfterEach
  void nothingLeaks() {
    leaks.awaitEmpty(LeakLedger.PATIENCE);
    tier.remove(Blocks.keys(SPACE, 0, 16)).block(); // a lease that lives keeps its blocks
    leaks.watch("slots of the tier", tier.arena()::claimedSlots);
    leaks.close();
    tier.close().block();
  }

  /// What asked: it keeps what came.
  private static final class Asker implements CoreSubscriber<Payload> {
    private final List<Payload> payloads = new CopyOnWriteArrayList<>();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final AtomicInteger ends = new AtomicInteger();
    private final InFlight inFlight = new InFlight();
    private @Nullable Subscription subscription;

    @Override
    public void onSubscribe(Subscription subscription) {
      this.subscription = subscription;
    }

    @Override
    public void onNext(Payload payload) {
      payloads.add(payload);
    }

    @Override
    public void onError(Throwable error) {
      errors.add(error);
      ends.incrementAndGet();
    }

    @Override
    public void onComplete() {
      ends.incrementAndGet();
    }

    Asker request(long n) {
      requireNonNull(subscription).request(n);
      return this;
    }

    void cancel() {
      requireNonNull(subscription).cancel();
    }

    /// What came, as the socket has it, which then lets it go.
    void taken() {
      payloads.forEach(Payload::release);
      payloads.clear();
    }

    void assertRefused(ErrorCode code, String says) {
      assertThat(payloads).isEmpty();
      assertThat(errors).singleElement().isInstanceOfSatisfying(WireFormatException.class, e -> {
        assertThat(e.code()).isEqualTo(code);
        assertThat(e).hasMessageContaining(says);
      });
      assertThat(ends).hasValue(1);
    }
  }

  private Asker ask(List<BlockKey> keys) {
    return ask(scope -> gates.lease(tier.lease(keys, OnMiss.SKIP, scope)));
  }

  private Asker ask(Function<BlockScope, Mono<Lease>> lease) {
    return ask(6, () -> null, lease);
  }

  /// Asks for blocks that the tier may share at once.
  private Asker askAtOnce(List<BlockKey> keys, AtomicInteger shared) {
    return ask(keys.size(), () -> {
      shared.incrementAndGet();
      return tier.tryGet(keys, null);
    }, scope -> gates.lease(tier.lease(keys, OnMiss.SKIP, scope)));
  }

  private Asker ask(int keys, Supplier<@Nullable List<LeasedBlock>> atOnce, Function<BlockScope, Mono<Lease>> lease) {
    Asker asker = new Asker();
    running.incrementAndGet();
    asker.inFlight.onDrained(running::decrementAndGet);
    SliceAnswer.of(new SliceAnswer.Question(keys, atOnce, lease, shape, isUnverified),
        new SliceFraming(SPACE.id(), LAYOUT, UnpooledByteBufAllocator.DEFAULT, InlineCarrier.INSTANCE,
            Carried.UNCOUNTED, SLICE, true, Budget.of(room)),
        asker.inFlight, rule, StreamClock.NONE).subscribe(asker);
    return asker;
  }

  private static List<BlockKey> keys(int from, int to) {
    return Blocks.keys(SPACE, from, to);
  }

  /// The blocks of a slice, each compared.
  private static int[] positions(Payload payload, List<BlockKey> keys) {
    ByteBuf data = payload.sliceData();
    SliceHeader header =
        SliceHeader.decode(data, data.readableBytes(), SPACE.id(), LAYOUT, SLICE, keys.size());
    header.requireKeys(keys);
    assertThat(header.place().window()).isZero();
    assertThat(header.place().remaining()).isZero();
    int bytes = header.range().bytes(LAYOUT);
    assertThat(data.readableBytes()).isEqualTo(header.bytes() + header.positions().length * bytes);
    for (int i = 0; i < header.positions().length; i++) {
      Blocks.assertBytes(keys.get(header.positions()[i]), header.range().offset(LAYOUT),
          MemorySegment.ofBuffer(data.nioBuffer(header.bytes() + i * bytes, bytes)));
    }
    return header.positions();
  }

  @ParameterizedTest
  @EnumSource
  void blocksThatWereFound_areAllInOneSlice(SliceShape.Order order) {
    for (int startLayer : new int[] {0, 1}) {
      shape = new SliceShape(WINDOW, SLICE, order, startLayer);
      Asker asker = ask(keys(0, 6)).request(1);

      assertThat(asker.payloads).hasSize(1);
      assertThat(positions(asker.payloads.getFirst(), keys(0, 6))).containsExactly(0, 2, 3);
      assertThat(asker.ends).hasValue(1);
      assertThat(asker.errors).isEmpty();
      assertThat(room.inUse()).isEqualTo(3L * BLOCK * (2 - startLayer) / 2);
      asker.taken();
      assertThat(room.inUse()).isZero();
    }
  }

  @Test
  void blocksInMemory_areAnsweredWithoutALease_andTakeTheRoomThatTheyNeed() {
    AtomicInteger shared = new AtomicInteger();
    Asker asker = askAtOnce(keys(0, 4), shared).request(1);

    assertThat(positions(asker.payloads.getFirst(), keys(0, 4))).containsExactly(0, 2, 3);
    assertThat(asker.ends).hasValue(1);
    assertThat(room.inUse()).isEqualTo(3L * BLOCK);
    asker.taken();
    Asker none = askAtOnce(keys(8, 12), shared).request(1);
    assertThat(none.payloads.getFirst().sliceData().isReadable()).isFalse();
    assertThat(room.inUse()).isZero();
    assertThat(shared).hasValue(2);
    assertThat(gates.reached(Stage.LEASE)).isZero();
    leaks.assertEmpty();
  }

  /// What waits for room is leased: the tier bounds what leases hold.
  @Test
  void blocksThatHaveNoRoomNow_areNotShared() {
    AtomicInteger shared = new AtomicInteger();
    room.tryAcquire(BLOCK + 1);
    Asker asker = askAtOnce(keys(0, 4), shared).request(1);

    assertThat(shared).hasValue(0);
    assertThat(gates.reached(Stage.LEASE)).isOne();
    room.release(BLOCK + 1);
    assertThat(positions(asker.payloads.getFirst(), keys(0, 4))).containsExactly(0, 2, 3);
    asker.taken();
    leaks.assertEmpty();
  }

  @Test
  void errorOfWhatIsShared_givesTheRoomBack() {
    IllegalStateException failure = new IllegalStateException("tier");
    Asker asker = ask(4, () -> {
      throw failure;
    }, scope -> Mono.never()).request(1);

    assertThat(asker.errors).containsExactly(failure);
    leaks.assertEmpty();
  }

  @Test
  void noneFound_isAnEmptyPayload_andNothingIsHeld() {
    Asker asker = ask(keys(8, 12)).request(1);

    assertThat(asker.payloads).singleElement().satisfies(payload -> {
      assertThat(payload.sliceData().isReadable()).isFalse();
      assertThat(payload.hasMetadata()).isFalse();
    });
    assertThat(asker.ends).hasValue(1);
    assertThat(running).hasValue(0);
    assertThat(gates.reached(Stage.WINDOW)).isZero();
    leaks.assertEmpty();
  }

  @Test
  void moreBytesThanASlice_areRefused_beforeAnyIsRead() {
    put(4);
    put(5);

    ask(keys(0, 6)).request(1).assertRefused(ErrorCode.LIMIT_EXCEEDED,
        "bytes of blocks in one answer must be <= " + SLICE + " (was " + 5 * BLOCK + ")");

    assertThat(gates.reached(Stage.WINDOW)).isZero();
    leaks.assertEmpty();
    shape = new SliceShape(WINDOW, SLICE, SliceShape.Order.LAYER_FIRST, 1); // the halves of five blocks fit
    Asker asker = ask(keys(0, 6)).request(1);
    assertThat(positions(asker.payloads.getFirst(), keys(0, 6))).containsExactly(0, 2, 3, 4, 5);
    asker.taken();
  }

  @Test
  void windowThatIsSmallerThanWhatWasFound_isRefused() {
    shape = shape.withWindowBlocks(2);

    ask(keys(0, 6)).request(1).assertRefused(ErrorCode.LIMIT_EXCEEDED, "blocks in one answer must be <= 2 (was 3)");

    assertThat(gates.reached(Stage.SLICE)).isZero();
    leaks.assertEmpty();
  }

  @Test
  void sliceThatLeavesOthersRemaining_isRefused() {
    gates.shape = shape.withSliceBytes(BLOCK);

    ask(keys(0, 6)).request(1).assertRefused(ErrorCode.LIMIT_EXCEEDED, "slices in one answer must be 1 (was 4)");

    leaks.assertEmpty();
  }

  @Test
  void tierIsAskedOnce_whenTheAnswerIsRequested() {
    Sinks.Empty<Void> gate = gates.hold(Stage.LEASE);
    Asker asker = ask(keys(0, 6));

    assertThat(gates.reached(Stage.LEASE)).isZero();
    asker.request(1).request(5).request(Long.MAX_VALUE);
    assertThat(gates.reached(Stage.LEASE)).isOne();
    gate.tryEmitEmpty();
    asker.request(1);
    assertThat(asker.payloads).hasSize(1);
    asker.taken();
  }

  @Test
  void slice_waitsForRoomInTheSendWindow_thenGoes() {
    room.tryAcquire(SLICE - 100);
    Asker asker = ask(keys(0, 6)).request(1);
    assertThat(asker.payloads).isEmpty();
    assertThat(asker.ends).hasValue(0);
    assertThat(room.waiting()).isOne();

    room.release(SLICE - 100);

    assertThat(positions(asker.payloads.getFirst(), keys(0, 6))).containsExactly(0, 2, 3);
    assertThat(room.inUse()).isEqualTo(3L * BLOCK);
    asker.taken();
  }

  @Test
  void answer_countsForDrain_untilTheSocketReleasesItsSlice() {
    Asker asker = ask(keys(0, 6)).request(1);
    List<String> drained = new ArrayList<>();
    asker.inFlight.onDrained(() -> drained.add("drained"));
    assertThat(asker.ends).as("it is complete").hasValue(1);
    assertThat(running).hasValue(1);
    assertThat(drained).isEmpty();

    asker.taken();

    assertThat(drained).containsExactly("drained");
    assertThat(running).hasValue(0);
  }

  @Test
  void peerThatTakesNothing_endsItByTheRule() {
    room.tryAcquire(SLICE);
    Asker asker = ask(keys(0, 6)).request(1);
    time.advanceTimeBy(STALL.dividedBy(2));
    assertThat(asker.errors).isEmpty();

    time.advanceTimeBy(STALL);

    assertThat(asker.errors).singleElement().isInstanceOfSatisfying(AwaitTimeoutException.class,
        e -> assertThat(e.what()).isEqualTo("slices to be taken"));
    assertThat(running).hasValue(0);
    room.release(SLICE);
    assertThat(asker.payloads).isEmpty();
    leaks.assertEmpty();
  }

  @Test
  void slowTier_isNoSilenceOfThePeer() {
    Sinks.Empty<Void> gate = gates.hold(Stage.SLICE);
    Asker asker = ask(keys(0, 6)).request(1);

    time.advanceTimeBy(STALL.multipliedBy(10));

    gate.tryEmitEmpty();
    assertThat(asker.payloads).hasSize(1);
    asker.taken();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void requestForNothingOrLess_isAnError_alsoWhileTheSliceWaits(long n) {
    ask(keys(0, 6)).request(n).assertRefused(ErrorCode.BAD_REQUEST, "request must be > 0");
    assertThat(gates.reached(Stage.LEASE)).isZero();

    room.tryAcquire(SLICE);
    ask(keys(0, 6)).request(1).request(n).assertRefused(ErrorCode.BAD_REQUEST, "request must be > 0");
    room.release(SLICE);
    leaks.assertEmpty();
  }

  @Test
  void errorsOfTheTier_arriveAsTheyAre() {
    try (BlockScope scope = new BlockScope()) {
      Block block = requireNonNull(tier.get(keys(2, 3), scope).blockFirst());
      Blocks.corrupt(block, 77);
    }
    isUnverified = true;
    Asker unread = ask(keys(0, 6)).request(1);
    assertThat(unread.payloads).as("the reader compares").hasSize(1);
    unread.taken();

    isUnverified = false;
    Asker read = ask(keys(0, 6)).request(1);
    assertThat(read.errors).singleElement().isInstanceOfSatisfying(BlockCorruptException.class,
        e -> assertThat(e.key()).isEqualTo(keys(2, 3).getFirst()));
    leaks.assertEmpty();

    IllegalStateException failure = new IllegalStateException("tier");
    assertThat(ask(scope -> Mono.error(failure)).request(1).errors).containsExactly(failure);
    assertThat(ask(scope -> {
      throw failure;
    }).request(1).errors).containsExactly(failure);
    assertThat(ask(scope -> Mono.empty()).request(1).errors).singleElement()
        .isInstanceOf(IllegalStateException.class);
    leaks.assertEmpty();
  }

  /// The window closes, and with it those who wait for its room.
  @Test
  void sendWindowThatCloses_failsWhatWaits() {
    room.tryAcquire(SLICE);
    Asker asker = ask(keys(0, 6)).request(1);

    TierClosedException closed = new TierClosedException("window");
    room.close(() -> closed);

    assertThat(asker.errors).containsExactly(closed);
    assertThat(running).hasValue(0);
    room.release(SLICE);
  }

  private enum Held {
    LEASE(Stage.LEASE),
    WINDOW(Stage.WINDOW),
    SLICE(Stage.SLICE),
    ROOM(null),
    SOCKET(null);

    private final @Nullable Stage stage;

    Held(@Nullable Stage stage) {
      this.stage = stage;
    }
  }

  /// Something that is held up, and what lets it go on.
  private Runnable hold(Held held) {
    if (held == Held.ROOM) {
      room.tryAcquire(SLICE);
      return () -> room.release(SLICE);
    } else if (held.stage == null) {
      return () -> {};
    }
    Sinks.Empty<Void> gate = gates.hold(held.stage);
    waiters = gate::currentSubscriberCount;
    return gate::tryEmitEmpty;
  }

  /// Whatever a request waits for, a cancel gives all back at once; what it waited for may come later.
  @ParameterizedTest
  @EnumSource
  void cancel_atAnyStage_givesAllBack(Held held) {
    for (int run = 0; run < 2_000; run++) {
      Runnable goOn = hold(held);
      Asker asker = ask(keys(0, 6)).request(1);
      assertThat(asker.payloads).as("run %d", run).hasSize(held == Held.SOCKET ? 1 : 0);
      asker.cancel();
      if (held == Held.SOCKET) {
        assertThat(running).as("run %d: the socket has it", run).hasValue(1);
        asker.taken();
      }
      assertThat(running).as("run %d: drained", run).hasValue(0);
      assertThat(room.waiting()).isZero();
      assertThat(waiters.getAsInt()).as("run %d: what it waited for is cancelled", run).isZero();
      goOn.run();
      asker.cancel();
      assertThat(asker.payloads).isEmpty();
      assertThat(asker.ends).hasValue(held == Held.SOCKET ? 1 : 0);
      leaks.assertEmpty();
    }
  }

  @Test
  void sliceThatComesAfterACancel_isGivenBack() {
    gates.areLate = true;
    Asker cancelled = ask(keys(0, 6)).request(1);
    cancelled.cancel();
    gates.late.run();
    assertThat(cancelled.payloads).isEmpty();
    leaks.assertEmpty();

    Asker whole = ask(keys(0, 6)).request(1);
    gates.late.run();
    assertThat(positions(whole.payloads.getFirst(), keys(0, 6))).containsExactly(0, 2, 3);
    whole.taken();
  }

  @ParameterizedTest
  @EnumSource(names = {"LEASE", "WINDOW", "SLICE", "ROOM"})
  void cancel_whileItGoesOn_givesAllBack(Held held) {
    SplittableRandom random = new SplittableRandom(held.ordinal());
    try (Race race = new Race(2)) {
      for (int run = 0; run < 1_000; run++) {
        Runnable goOn = hold(held);
        Asker asker = ask(keys(0, 6)).request(1);
        int spins = random.nextInt(200);
        boolean first = random.nextBoolean();
        race.run(() -> {
          spin(first ? spins : 0);
          goOn.run();
        }, () -> {
          spin(first ? 0 : spins);
          asker.cancel();
        });
        asker.taken(); // RSocket releases what comes after its cancel
        assertThat(asker.errors).as("run %d", run).isEmpty();
        leaks.assertEmpty();
      }
    }
  }

  private static void spin(int times) {
    for (int i = 0; i < times; i++) {
      Thread.onSpinWait();
    }
  }

  @Test
  void connectionThatGoes_endsWhatWaits() {
    Runnable goOn = hold(Held.WINDOW);
    Asker asker = ask(keys(0, 6)).request(1);

    asker.inFlight.abandon();

    assertThat(running).hasValue(0);
    goOn.run();
    asker.cancel();
    leaks.assertEmpty();
  }
}
