package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.flow.ValueStore;
import io.penstock.node.door.DoorValues;
import io.penstock.testkit.Eventually;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.spi.ForwardingTier;
import io.penstock.wire.security.Access;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Puts that are cancelled while their value becomes visible: its name is known if it is there, and not otherwise.
@Timeout(300)
final class CancelledPutsTest {
  private enum Moment {
    BEFORE_THE_COMMIT,
    AFTER_THE_COMMIT
  }

  /// A tier whose commits of a value's head cancel the put at a moment.
  private static final class CancellingTier extends ForwardingTier {
    private final BlockTier tier;
    private final Moment moment;
    private final AtomicReference<@Nullable Disposable> put;

    CancellingTier(BlockTier tier, Moment moment, AtomicReference<@Nullable Disposable> put) {
      super(tier);
      this.tier = tier;
      this.moment = moment;
      this.put = put;
    }

    @Override
    public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
      return tier.reserve(keys, terms, scope).map(room -> terms.upserts() ? scope.adopt(new Room(room)) : room);
    }

    private final class Room extends Reservation {
      private final Reservation room;

      Room(Reservation room) {
        this.room = room;
      }

      @Override
      public List<BlockDraft> drafts() {
        return room.drafts();
      }

      @Override
      public Presence skipped() {
        return room.skipped();
      }

      @Override
      public Mono<List<Receipt>> commit(List<BlockDraft> complete) {
        Mono<List<Receipt>> commit = room.commit(complete);
        return moment == Moment.BEFORE_THE_COMMIT
            ? Mono.fromRunnable(this::cancel).then(commit)
            : commit.doOnNext(receipts -> cancel());
      }

      private void cancel() {
        Disposable one = put.getAndSet(null);
        if (one != null) {
          one.dispose();
        }
      }

      @Override
      protected void free() {
        room.close();
      }
    }
  }

  private static Mono<Void> fill(MemorySegment memory) {
    return Mono.fromRunnable(() -> memory.fill((byte) 7));
  }

  @ParameterizedTest
  @CsvSource({"0, AFTER_THE_COMMIT, 100", "0, AFTER_THE_COMMIT, 1000000", "0, BEFORE_THE_COMMIT, 100",
    "0, BEFORE_THE_COMMIT, 1000000", "100, AFTER_THE_COMMIT, 100", "100, AFTER_THE_COMMIT, 1000000",
    "1000000, BEFORE_THE_COMMIT, 100", "100, BEFORE_THE_COMMIT, 100", "1000000, AFTER_THE_COMMIT, 1000000",
    "1000000, AFTER_THE_COMMIT, 100"})
  void nameOfACancelledPut_isKnown_exactlyIfItsValueIsThere(int before, Moment moment, int length) throws Exception {
    AtomicReference<@Nullable Disposable> cancelled = new AtomicReference<>();
    List<BlockTier> tiers = new ArrayList<>();
    try (OpenDoor door = open(tiers, moment, cancelled)) {
      if (before > 0) {
        assertThat(door.values.put("k", before, CancelledPutsTest::fill, () -> 0, DoorValues.ANY).block()).isTrue();
      }
      BaseSubscriber<Boolean> put = new BaseSubscriber<>() {};
      cancelled.set(put);
      door.values.put("k", length, CancelledPutsTest::fill, () -> 0, DoorValues.ANY).subscribe(put);
      Eventually.holds("the put is cancelled", () -> cancelled.get() == null);
      if (moment == Moment.AFTER_THE_COMMIT && length == 100) {
        Eventually.holds("the value that was stored is known", () -> door.values.knownLength("k").orElse(-1) == length);
      }
      Eventually.holds("what is known is there, and what is there is known", () -> {
        boolean isKnown = door.values.knownLength("k").isPresent();
        return isKnown == (door.values.count() == 1) && isKnown == isThere(tiers);
      });
    }
  }

  private static OpenDoor open(List<BlockTier> tiers, Moment moment, AtomicReference<@Nullable Disposable> put) {
    return new OpenDoor(16 << 20, tier -> {
      tiers.add(tier);
      return new CancellingTier(tier, moment, put);
    }, Map.of(), Access.open());
  }

  /// Asks the tiers: the door would learn its name from a question. A head whose parts are gone is no value.
  private static boolean isThere(List<BlockTier> tiers) {
    return tiers.stream().anyMatch(tier -> {
      ValueStore store = new ValueStore(tier);
      return store.heads(List.of(store.headKey("k")))
          .filterWhen(head -> tier.contains(head.marks()).map(there -> there.count() == head.marks().size()))
          .next().blockOptional().isPresent();
    });
  }

  @ParameterizedTest
  @EnumSource(Moment.class)
  void endOfACancelledPut_isThatOfItsOwnValue_andOfNoOlderOne(Moment moment) throws Exception {
    long until = 2_000_000_000;
    AtomicReference<@Nullable Disposable> cancelled = new AtomicReference<>();
    List<BlockTier> tiers = new ArrayList<>();
    try (OpenDoor door = open(tiers, moment, cancelled)) {
      assertThat(new ValueStore(tiers.getLast()).put("k", 200, Flux.just(MemorySegment.ofArray(new byte[200]))).block())
          .isTrue();
      assertThat(door.values.knownLength("k")).as("the door did not see that").isEmpty();
      BaseSubscriber<Boolean> put = new BaseSubscriber<>() {};
      cancelled.set(put);
      door.values.put("k", 100, CancelledPutsTest::fill, () -> until, DoorValues.ANY).subscribe(put);
      Eventually.holds("the put is cancelled", () -> cancelled.get() == null);
      boolean isNew = moment == Moment.AFTER_THE_COMMIT;
      Eventually.holds("the value is known", () -> door.values.knownLength("k").orElse(-1) == (isNew ? 100 : 200));
      assertThat(door.values.untilMillis("k")).isEqualTo(isNew ? until : 0);
    }
  }
}
