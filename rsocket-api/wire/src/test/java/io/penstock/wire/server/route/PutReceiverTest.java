package io.penstock.wire.server.route;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.SliceShape;
import io.penstock.budget.Permits;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierListener;
import io.penstock.wire.SliceStream;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.SilenceRules;
import io.penstock.wire.protocol.WireFailure.AwaitTimeoutException;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.StreamClock;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import io.rsocket.util.DefaultPayload;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.test.publisher.TestPublisher;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A sender that has credit and stays silent cannot hold room and budget for ever; whatever ends a channel is named.
final class PutReceiverTest {
  private static final Duration IDLE = Duration.ofSeconds(30);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  private final HostTier tier = new HostTier(Blocks.smallSpace(), 8, TierListener.noop());
  private final ByteBudget budget = leaks.watch(new ByteBudget("ingress", 1 << 16, 4));
  private final Permits windows = new Permits("windows", 8, 4);
  private final BudgetLane whole = new BudgetLane("windows", Budget.of(windows), 8, 4);
  private final BudgetLane room = whole.part("windows", 8, 4, 4);
  private final TestPublisher<Payload> sender = TestPublisher.create();
  private Throwable error;
  private int told;
  private int over;

  private long credit = Long.MAX_VALUE;

  private final BaseSubscriber<Payload> signals = new BaseSubscriber<>() {
    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      if (credit > 0) {
        subscription.request(credit);
      }
    }

    @Override
    protected void hookOnNext(Payload signal) {
      told++;
      signal.release();
    }

    @Override
    protected void hookOnError(Throwable thrown) {
      error = thrown;
    }
  };

  private static final List<BlockKey> KEYS = Blocks.keys(Blocks.smallSpace(), 0, 2);

  private void receive() {
    PutReceiver.Setting setting =
        new PutReceiver.Setting(tier, PutTerms.plain(), false,
            new PutReceiver.Bounds(Budget.of(budget.permits()), room, 2,
                SilenceRules.of(IDLE, clock)),
            4096, 4, signal -> DefaultPayload.create("signal"), null, () -> over++, StreamClock.NONE);
    sender.flux().subscribe(new PutReceiver(signals, setting, KEYS));
    sender.assertMinRequested(1);
  }

  @Test
  void slice_afterTheTierClosed_isToldSo_andNoFaultOfOurs() {
    receive();
    tier.close().subscribe();

    sender.next(ByteBufPayload.create(
        new SliceStream(Blocks.smallSpace(), 4, 0, 4096, SliceShape.Order.LAYER_FIRST).of(KEYS, List.of(0, 1))
            .getFirst()));

    assertEquals("tier dram must be open (was closed)",
        assertInstanceOf(TierClosedException.class, error).getMessage());
    assertEquals(List.of(0L, 0L, 1L), List.of(tier.arena().claimedSlots(), budget.inUseBytes(), (long) over));
  }

  @Test
  void windowThatIsOverBeforeAllItsGranulesCame_isIncomplete() {
    receive();
    List<byte[]> layers = new SliceStream(Blocks.smallSpace(), 4, 0, 2 * Blocks.smallLayout().layerBytes(),
        SliceShape.Order.LAYER_FIRST).of(KEYS, List.of(0, 1));

    sender.next(ByteBufPayload.create(layers.getLast()));

    IncompleteBlockException incomplete = assertInstanceOf(IncompleteBlockException.class, error);
    assertEquals(KEYS.getFirst(), incomplete.key());
    assertEquals(List.of(0L, 0L, 1L), List.of(tier.arena().claimedSlots(), budget.inUseBytes(), (long) over));
  }

  @Test
  void sender_thatSendsMoreThanWasAskedFor_isToldSo() {
    receive();
    sender.error(Exceptions.failWithOverflow());

    assertEquals("slice count must be <= the slices requested (was more)",
        assertInstanceOf(WireFormatException.class, error).getMessage());
  }

  @Test
  void window_hasTheBlocksThatAreFair_andGivesThemBack() {
    whole.tryAcquire(7);
    receive();
    assertEquals(1, tier.arena().claimedSlots(), "one block was free");
    whole.release(7);
    signals.cancel();
    assertEquals(List.of(0L, 0L, 1L), List.of(windows.inUse(), tier.arena().claimedSlots(), (long) over));
  }

  @Test
  void sender_thatWaitsForABlockOfAWindow_isNotSilent_andGoesOnWhenOneIsFree() {
    whole.tryAcquire(8);
    PutReceiver.Setting setting =
        new PutReceiver.Setting(tier, PutTerms.plain(), false,
            new PutReceiver.Bounds(Budget.of(budget.permits()), room, 2,
                SilenceRules.of(IDLE, clock)),
            4096, 4, signal -> DefaultPayload.create("signal"), null, () -> over++, StreamClock.NONE);
    sender.flux().subscribe(new PutReceiver(signals, setting, KEYS));
    clock.advanceTimeBy(IDLE.multipliedBy(3));
    assertNull(error);
    whole.release(8);
    assertEquals(List.of(2L, 1), List.of(tier.arena().claimedSlots(), told), "one window of all that is fair");
    signals.cancel();
    assertEquals(List.of(0L, 0L), List.of(windows.inUse(), tier.arena().claimedSlots()));
  }

  @Test
  void sender_thatTakesNoAnswer_isEnded() {
    try (BlockScope scope = new BlockScope()) {
      Reservation written = tier.reserve(KEYS, scope).block();
      written.drafts().forEach(Blocks::produce);
      written.commit(written.drafts()).block();
    }
    credit = 0;
    PutReceiver.Setting setting =
        new PutReceiver.Setting(tier, PutTerms.plain(), false,
            new PutReceiver.Bounds(Budget.of(budget.permits()), room, 2,
                SilenceRules.of(IDLE, clock)),
            4096, 4, signal -> DefaultPayload.create("signal"), null, () -> over++, StreamClock.NONE);
    sender.flux().subscribe(new PutReceiver(signals, setting, KEYS));
    clock.advanceTimeBy(IDLE.multipliedBy(2));
    assertInstanceOf(AwaitTimeoutException.class, error);
    assertEquals(List.of(0L, 1L), List.of(windows.inUse(), (long) over));
  }

  @Test
  void sender_silentWithCredit_isEndedAndEverythingGivenBack() {
    receive();
    assertTrue(tier.arena().claimedSlots() == 2 && budget.inUseBytes() > 0, "room and credit were given");

    clock.advanceTimeBy(IDLE.minusSeconds(1));
    assertNull(error);
    clock.advanceTimeBy(Duration.ofSeconds(1));

    assertInstanceOf(AwaitTimeoutException.class, error);
    sender.assertCancelled();
    assertEquals(List.of(0L, 0L, 1L), List.of(tier.arena().claimedSlots(), budget.inUseBytes(), (long) over));
  }
}
