package io.penstock.wire.client.get;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.penstock.KvException;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.HeldSlots;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.carrier.InlineCarrier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.Race;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.wire.SliceStream;
import io.penstock.wire.client.link.AnswerLimits;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.WireFailure.AnswerTimeoutException;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.Carried;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.slice.LandedSlice;
import io.penstock.wire.slice.Landing;
import io.penstock.wire.slice.Mutation;
import io.rsocket.util.ByteBufPayload;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/// The side of a client of a get with one answer, fed by hand.
@Timeout(60)
final class ShortGetTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final BlockLayout LAYOUT = SPACE.layout();
  private static final int SLICE = 4096;
  private static final int WINDOW = 4;
  private static final int SLOTS = 3 * WINDOW;
  private static final int BLOCK = LAYOUT.blockBytes();
  private static final List<BlockKey> KEYS = Blocks.keys(SPACE, 0, WINDOW);
  private static final SliceStream HONEST = new SliceStream(SPACE, WINDOW, 0, SLICE, SliceShape.Order.LAYER_FIRST);

  private final LeakLedger leaks = new LeakLedger();
  private final SlabArena arena = leaks.watch(new SlabArena("client", LAYOUT, SLOTS, 4));
  private final ByteBudget budget = leaks.watch(new ByteBudget("client", 4L * WINDOW * BLOCK, 4));
  private final List<ByteBuf> fed = new CopyOnWriteArrayList<>();
  private final List<BlockKey> damaged = new ArrayList<>();

  @AfterEach
  void nothingLeaks() {
    assertThat(fed).allMatch(buffer -> buffer.refCnt() == 0);
    leaks.close();
  }

  private GetSetting setting(int startLayer) {
    return new GetSetting(arena, SPACE.id(), budget.permits(), SLICE, WINDOW, 4, startLayer,
        SliceShape.Order.LAYER_FIRST, OnMiss.SKIP, ControlCodec.CBOR, AnswerLimits.NONE, "node",
        error -> new IllegalStateException("told", error));
  }

  /// A get under way, what it said, and its node.
  private final class Asked implements Subscription {
    private final AtomicInteger requested = new AtomicInteger();
    private final AtomicInteger cancelled = new AtomicInteger();
    private final List<Presence> decided = new CopyOnWriteArrayList<>();
    private final List<Throwable> refused = new CopyOnWriteArrayList<>();
    private final ShortGet get;
    private final BlockScope scope = new BlockScope();
    private @Nullable LandedBlocks blocks;
    private @Nullable RemoteLease lease;

    Asked(List<BlockKey> keys, int startLayer) {
      get = new ShortGet(setting(startLayer), keys,
          Landing.of(InlineCarrier.INSTANCE, window -> {}, Carried.UNCOUNTED, damaged::add), StreamClock.NONE,
          (receiver, found) -> {
            blocks = receiver;
            lease = scope.adopt(new RemoteLease(receiver, Mono::empty, found));
            decided.add(found);
          }, refused::add);
    }

    /// Asks, with room for all.
    Asked ask() {
      assertThat(get.hold()).isTrue();
      get.onSubscribe(this);
      return this;
    }

    @Override
    public void request(long n) {
      requested.addAndGet((int) n);
    }

    @Override
    public void cancel() {
      cancelled.incrementAndGet();
    }

    Asked payload(byte... bytes) {
      ByteBuf data = Unpooled.buffer(bytes.length + 1).writeBytes(bytes); // never the empty buffer, which all share
      fed.add(data);
      get.onNext(ByteBufPayload.create(data));
      return this;
    }

    /// What a node with the blocks at `positions` answers.
    Asked answer(Integer... positions) {
      payload(HONEST.of(KEYS, List.of(positions)).getFirst());
      get.onComplete();
      return this;
    }

    RemoteLease lease() {
      return requireNonNull(lease);
    }

    /// Positions of the blocks, each compared.
    List<Integer> read() {
      return lease().windows(3, scope).concatMapIterable(blocks -> blocks).map(leased -> {
        Blocks.assertBytes(leased.block());
        assertThat(leased.block().key()).isEqualTo(KEYS.get(leased.position()));
        leased.block().close();
        return leased.position();
      }).collectList().block();
    }

    /// Refused, with nothing held and the node told.
    <T extends Throwable> T failed(Class<T> type, String says) {
      assertThat(decided).isEmpty();
      assertThat(refused).singleElement().isInstanceOf(type).asString().contains(says);
      leaks.assertEmpty();
      return type.cast(refused.getFirst());
    }
  }

  private Asked ask() {
    return new Asked(KEYS, 0).ask();
  }

  private static List<byte[]> slices(List<BlockKey> keys, int startLayer, int sliceBytes, Integer... positions) {
    return new SliceStream(SPACE, WINDOW, startLayer, sliceBytes, SliceShape.Order.LAYER_FIRST).of(keys,
        List.of(positions));
  }

  @Test
  void blocks_landBeforeTheLeaseIsThere_andAreReadOnce() {
    Asked asked = ask();
    assertThat(asked.requested).hasValue(1);
    assertThat(arena.claimedSlots()).isEqualTo(WINDOW);
    assertThat(budget.inUseBytes()).isEqualTo((long) WINDOW * BLOCK);

    asked.answer(0, 2, 3);

    assertThat(asked.decided).singleElement().satisfies(found -> {
      assertThat(found.size()).isEqualTo(WINDOW);
      assertThat(found.bits().stream()).containsExactly(0, 2, 3);
    });
    assertThat(arena.claimedSlots()).as("no slot for what does not come").isEqualTo(3);
    assertThat(budget.inUseBytes()).as("they have come").isZero();
    assertThat(asked.lease().found()).isEqualTo(asked.lease().hits());
    assertThat(asked.lease().admitted().count() + asked.lease().awaited().count()).isZero();
    assertThat(asked.read()).containsExactly(0, 2, 3);
    assertThat(asked.cancelled).hasValue(0);
    leaks.assertEmpty();
    assertThatThrownBy(asked::read).isInstanceOf(IllegalStateException.class).hasMessageContaining("read once");
  }

  @Test
  void blocks_areReadAsSlices_fromTheFirstLayerThatWasAsked() {
    Asked asked = new Asked(KEYS, 1).ask();
    assertThat(budget.inUseBytes()).isEqualTo((long) WINDOW * BLOCK / 2);
    asked.payload(slices(KEYS, 1, SLICE, 1, 2).getFirst());

    AtomicInteger bytes = new AtomicInteger();
    asked.lease().slices(asked.scope).doOnNext(slice -> {
      slice.spans().forEach(Blocks::assertBytes);
      bytes.addAndGet(slice.bytes());
      slice.close();
    }).blockLast();

    assertThat(bytes).hasValue(BLOCK);
    leaks.assertEmpty();
  }

  @Test
  void emptyAnswer_isALeaseOfNothing() {
    Asked asked = ask().payload();

    assertThat(asked.decided).singleElement().satisfies(found -> assertThat(found.count()).isZero());
    assertThat(arena.claimedSlots()).isZero();
    assertThat(asked.read()).isEmpty();
    leaks.assertEmpty();
  }

  @Test
  void reader_getsTheSliceWhenItAsks() {
    Asked asked = ask().answer(0, 1, 2, 3);
    List<String> heard = new ArrayList<>();
    BaseSubscriber<LandedSlice> reader = new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {}

      @Override
      protected void hookOnNext(LandedSlice slice) {
        heard.add("slice of " + slice.drafts().size());
      }

      @Override
      protected void hookOnComplete() {
        heard.add("end");
      }
    };
    requireNonNull(asked.blocks).read(reader);
    assertThat(heard).isEmpty();
    reader.request(1);
    assertThat(heard).containsExactly("slice of 4", "end");
    leaks.assertEmpty();
  }

  @Test
  void fits_isForOneSliceAndOneWindow() {
    assertThat(ShortGet.fits(setting(0), KEYS)).isTrue();
    assertThat(ShortGet.fits(setting(0), KEYS.subList(0, 1))).isTrue();
    assertThat(ShortGet.fits(setting(0), List.of())).isFalse();
    assertThat(ShortGet.fits(setting(0), Blocks.keys(SPACE, 0, WINDOW + 1))).as("more than a window").isFalse();
    GetSetting tight = new GetSetting(arena, SPACE.id(), budget.permits(), 3 * BLOCK, WINDOW, 4, 0,
        SliceShape.Order.LAYER_FIRST, OnMiss.SKIP, ControlCodec.CBOR, AnswerLimits.NONE, "node", error -> error);
    assertThat(ShortGet.fits(tight, KEYS.subList(0, 3))).isTrue();
    assertThat(ShortGet.fits(tight, KEYS)).as("more than a slice").isFalse();
  }

  @Test
  void noRoom_takesNothing_andLeavesAWindowOfSlots_andHalfOfTheBudget() {
    try (HeldSlots others = requireNonNull(arena.tryHold(SLOTS - 2 * WINDOW + 1))) {
      assertThat(new Asked(KEYS, 0).get.hold()).as("a window would not stay free").isFalse();
      assertThat(arena.claimedSlots()).isEqualTo(others.left());
      Asked smaller = new Asked(KEYS.subList(0, WINDOW - 1), 0);
      assertThat(smaller.get.hold()).isTrue();
      smaller.get.dispose();
    }
    long half = budget.capacityBytes() / 2;
    long others = half - (long) WINDOW * BLOCK + 1;
    assertThat(budget.permits().tryAcquire(others)).isTrue();
    assertThat(new Asked(KEYS, 0).get.hold()).as("half would not stay free").isFalse();
    assertThat(arena.claimedSlots()).isZero();
    assertThat(budget.inUseBytes()).isEqualTo(others);
    budget.permits().release(1);
    Asked asked = new Asked(KEYS, 0);
    assertThat(asked.get.hold()).isTrue();
    asked.get.dispose();
    budget.permits().release(others - 1);
  }

  /// Others that wait for bytes come first, however many are free: no slot is kept meanwhile.
  @Test
  void budgetThatOthersWaitFor_takesNothing() {
    requireNonNull(budget.permits().acquire(budget.capacityBytes(), () -> {}, error -> {}));
    budget.permits().release(budget.capacityBytes() - 1);
    var waiting = budget.permits().acquire(budget.capacityBytes(), () -> {}, error -> {});

    assertThat(new Asked(KEYS, 0).get.hold()).isFalse();

    assertThat(arena.claimedSlots()).isZero();
    waiting.cancel();
    budget.permits().release(1);
  }

  @Test
  void answersThatCannotBe_areTypedErrors() {
    List<BlockKey> foreign = Blocks.keys(SPACE, 10, 10 + WINDOW);
    ask().payload(slices(foreign, 0, SLICE, 0, 1).getFirst()).failed(WireFormatException.class, "keys");

    CacheSpace other = CacheSpace.of("other", LAYOUT);
    ask().payload(new SliceStream(other, WINDOW, 0, SLICE, SliceShape.Order.LAYER_FIRST)
        .of(Blocks.keys(other, 0, WINDOW), List.of(0, 1)).getFirst()).failed(WireFormatException.class, "space");

    List<byte[]> two = slices(KEYS, 0, BLOCK, 0, 1); // a layer of both blocks each
    assertThat(two).hasSize(2);
    ask().payload(two.getFirst()).failed(IncompleteBlockException.class, "missing");
    ask().payload(two.getLast()).failed(IncompleteBlockException.class, "missing");

    List<byte[]> later = new ArrayList<>();
    HONEST.window(1, KEYS, List.of(0), later);
    ask().payload(later.getFirst()).failed(WireFormatException.class, "window");

    ask().payload((byte) 1).failed(WireFormatException.class, "slice");

    Asked beyond = new Asked(KEYS.subList(0, 2), 0).ask();
    beyond.payload(slices(KEYS, 0, SLICE, 0, 3).getFirst()).failed(WireFormatException.class, "position");

    Asked early = new Asked(KEYS, 1).ask();
    early.payload(slices(KEYS, 0, SLICE, 0).getFirst()).failed(WireFormatException.class, "first layer");
    assertThat(damaged).isEmpty();
  }

  @Test
  void damagedByte_isATypedError_andToldToTheNode() {
    byte[] slice = slices(KEYS, 0, SLICE, 0, 1, 3).getFirst();
    slice[slice.length - 1] ^= 4;

    BlockCorruptException e = ask().payload(slice).failed(BlockCorruptException.class, "wire");

    assertThat(e.key()).isEqualTo(KEYS.get(3));
    assertThat(damaged).containsExactly(KEYS.get(3));
  }

  @Test
  void failedAnswer_cancelsAtTheNode() {
    Asked asked = ask().payload((byte) 1);

    assertThat(asked.cancelled).hasValue(1);
    asked.answer(0);
    asked.failed(WireFormatException.class, "slice");
  }

  /// Bytes that a link or a peer changed: a typed error, or just what was sent.
  @Test
  void mutatedAnswers_landNothingWrong() {
    byte[] honest = slices(KEYS, 0, SLICE, 0, 1, 3).getFirst();
    int failures = 0;
    for (int seed = 0; seed < 3_000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      byte[] bytes = Mutation.of(honest, random);
      if (random.nextInt(3) != 0) {
        Mutation.withHeaderChecksum(bytes);
      }
      Asked asked = ask().payload(bytes);
      if (asked.refused.isEmpty()) {
        List<Integer> positions = asked.read();
        assertThat(positions).as("seed %d", seed).isEqualTo(bytes.length == 0 ? List.of() : List.of(0, 1, 3));
      } else {
        failures++;
        assertThat(asked.refused).as("seed %d", seed).singleElement().isInstanceOf(KvException.class);
        asked.get.onComplete();
      }
      leaks.assertEmpty();
    }
    assertThat(failures).isGreaterThan(2_000);
  }

  @Test
  void whatComesAfterTheAnswer_changesNothing() {
    Asked asked = ask().answer(0, 1);
    asked.payload(slices(KEYS, 0, SLICE, 2, 3).getFirst());
    asked.get.onError(new IllegalStateException("late"));
    asked.get.onComplete();

    assertThat(asked.decided).hasSize(1);
    assertThat(asked.refused).isEmpty();
    assertThat(asked.read()).containsExactly(0, 1);
    asked.payload(slices(KEYS, 0, SLICE, 2, 3).getFirst());
    leaks.assertEmpty();
  }

  @Test
  void endWithoutAnAnswer_isATypedError() {
    Asked asked = ask();
    asked.get.onComplete();
    asked.failed(WireFormatException.class, "get response must be one payload (was none)");
  }

  @Test
  void errorOfTheNode_isToldAsTheConnectionSays() {
    Asked asked = ask();
    asked.get.onError(new CancellationException("there"));
    asked.failed(IllegalStateException.class, "told");
    asked.get.onComplete();
    asked.get.onError(new CancellationException("again"));
    assertThat(asked.refused).hasSize(1);
    assertThat(asked.cancelled).as("the node has ended it").hasValue(0);
  }

  @Test
  void silence_endsIt_butNotOneThatHasItsAnswer() {
    Asked silent = ask();
    for (int look = 0; look < 10; look++) {
      silent.get.look();
    }
    assertThat(silent.refused).isEmpty();
    silent.get.look();
    silent.failed(AnswerTimeoutException.class, "penstock.v1.get");
    assertThat(silent.cancelled).hasValue(1);

    Asked answered = ask().answer(0);
    for (int look = 0; look < 30; look++) {
      answered.get.look();
    }
    assertThat(answered.read()).containsExactly(0);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void readerThatAsksForNothingOrLess_misusesItsLease(long n) {
    Asked asked = ask().answer(0);
    List<Throwable> failures = new ArrayList<>();
    requireNonNull(asked.blocks).read(new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        subscription.request(n);
      }

      @Override
      protected void hookOnError(Throwable error) {
        failures.add(error);
      }
    });
    assertThat(failures).singleElement().isInstanceOf(IllegalArgumentException.class);
    leaks.assertEmpty();
  }

  /// Wherever a get is, its end gives all back at once.
  @Test
  void end_atAnyMoment_givesAllBack() {
    byte[] slice = slices(KEYS, 0, SLICE, 0, 1, 3).getFirst();
    for (int run = 0; run < 2_000; run++) {
      Asked unasked = new Asked(KEYS, 0);
      assertThat(unasked.get.hold()).isTrue();
      unasked.get.dispose();
      leaks.assertEmpty();
      unasked.get.onSubscribe(unasked);
      assertThat(unasked.cancelled).as("run %d: before it was sent", run).hasValue(1);
      assertThat(unasked.requested).hasValue(0);

      Asked unanswered = ask();
      unanswered.get.dispose();
      assertThat(unanswered.cancelled).as("run %d: before the answer", run).hasValue(1);
      leaks.assertEmpty();
      unanswered.payload(slice);
      unanswered.get.onComplete();
      assertThat(unanswered.decided).isEmpty();
      assertThat(unanswered.refused).isEmpty();

      Asked unread = ask().payload(slice);
      unread.lease().close();
      leaks.assertEmpty();
      assertThat(unread.cancelled).as("run %d: a lease without a reader", run).hasValue(0);
      assertThatThrownBy(unread::read).isInstanceOf(CancellationException.class);

      Asked left = ask().payload(slice);
      left.lease().windows(1, left.scope).next().block(); // cancels
      left.scope.close();
      leaks.assertEmpty();

      Asked scoped = ask().payload(slice);
      scoped.scope.close();
      leaks.assertEmpty();
    }
  }

  @Test
  void leaseThatEndsBeforeItsReaderAsks_tellsTheReader() {
    Asked asked = ask().answer(0, 1);
    List<Throwable> failures = new ArrayList<>();
    requireNonNull(asked.blocks).read(new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {}

      @Override
      protected void hookOnError(Throwable error) {
        failures.add(error);
      }
    });
    asked.lease().close();
    assertThat(failures).singleElement().isInstanceOf(CancellationException.class);
    leaks.assertEmpty();
  }

  @Test
  void answerAgainstCancel_leaksNothing_inAnyOrder() {
    byte[] slice = slices(KEYS, 0, SLICE, 0, 1, 3).getFirst();
    try (Race race = new Race(2)) {
      for (int run = 0; run < 2_000; run++) {
        Asked asked = ask();
        boolean closes = run % 2 == 0;
        race.run(() -> {
          asked.payload(slice);
          asked.get.onComplete();
        }, () -> {
          if (closes) {
            asked.scope.close();
          } else {
            asked.get.dispose();
          }
        });
        assertThat(asked.decided.size() + asked.refused.size()).as("run %d: told once at most", run)
            .isLessThanOrEqualTo(1);
        asked.scope.close();
        leaks.assertEmpty();
      }
    }
  }
}
