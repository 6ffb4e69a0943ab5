package io.penstock.wire.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.budget.Permits;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import io.penstock.wire.WireNode;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.NodeBudget;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.segment.StagingSlots;
import io.penstock.wire.server.call.HeldRights;
import io.penstock.wire.server.call.RunningStreams;
import io.penstock.wire.server.call.Turns;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.server.space.ServedSpaces;
import io.rsocket.Payload;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A connection that goes at the worst moment: while a payload is being made, on whichever thread.
final class KvResponderTest {
  private static final List<BlockKey> KEYS = Blocks.keys(Blocks.smallSpace(), 0, 4);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final HostTier tier = new HostTier(Blocks.smallSpace(), 8, TierListener.noop());
  private final ByteBudget ingress = leaks.watch(new ByteBudget("ingress", 1 << 20, 4));
  private final Permits requests = new Permits("requests", 1 << 16, 1);
  private final RunningStreams running = new RunningStreams();
  private final Interrupted memory = new Interrupted();
  private final List<Throwable> failures = new ArrayList<>();
  private final FairShares shares = new FairShares(new NodeBudget(ingress.permits(), 512 << 10),
      new BudgetLane("messages of requests", Budget.of(requests), 1 << 16, 1),
      new BudgetLane("windows", Budget.of(new Permits("windows", 128, 1)), 128, 16));
  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  private final KvResponder responder = responder(tier);

  /// Of one stream.
  private class Reader extends BaseSubscriber<Payload> {
    @Override
    protected void hookOnNext(Payload payload) {
      payload.release();
    }

    @Override
    protected void hookOnError(Throwable failure) {
      failures.add(failure);
    }
  }

  /// Something happens before direct memory is lent.
  private static final class Interrupted extends AbstractByteBufAllocator {
    private final List<ByteBuf> lent = new ArrayList<>();
    private Runnable before = () -> {};

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
      return noted(UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity));
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
      before.run();
      return noted(UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity));
    }

    private ByteBuf noted(ByteBuf buffer) {
      lent.add(buffer);
      return buffer;
    }

    @Override
    public boolean isDirectBufferPooled() {
      return false;
    }
  }

  private KvResponder responder(BlockTier of) {
    return new KvResponder(
        new Serving(new ServedSpaces(NodeSpaces.of(List.of(of)), Limits.defaults()),
            KvServerOptions.defaults(), shares, clock, new Turns(Schedulers.immediate()), Schedulers.immediate(),
            memory,
            () -> false, running, null, new StagingSlots(1 << 20), DisaggServices.none(), HeldRights.fixed(), Map.of()),
        ControlCodec.CBOR.mimeType(), "here", null, null, 0);
  }

  private void store() {
    try (BlockScope scope = new BlockScope()) {
      Reservation room = requireNonNull(tier.reserve(KEYS, scope).block());
      room.drafts().forEach(Blocks::produce);
      room.commit(room.drafts()).block();
    }
  }

  @Test
  void connection_goneWhileASliceIsMade_leavesNothingHeld() {
    store();
    memory.before = responder::dispose;
    Messages.GetRequest get = new Messages.GetRequest(Messages.Keys.of(KEYS), "SKIP", "LAYER_FIRST", 0, 4096, 4, 1);

    responder.requestStream(WireNode.request(ControlCodec.CBOR, Routes.GET, get)).subscribe(new Reader());

    assertThat(failures).isEmpty();
    assertThat(running.count()).isZero();
    tier.remove(KEYS).block();
    assertThat(tier.arena().claimedSlots()).isZero();
    assertThat(memory.lent).isNotEmpty().allMatch(buffer -> buffer.refCnt() == 0);
  }

  private Reader get(long credit) {
    Messages.GetRequest get = new Messages.GetRequest(Messages.Keys.of(KEYS), "SKIP", "LAYER_FIRST", 0, 4096, 1, 1);
    Reader reader = new Reader() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        subscription.request(credit);
      }
    };
    responder.requestStream(WireNode.request(ControlCodec.CBOR, Routes.GET, get)).subscribe(reader);
    return reader;
  }

  @Test
  void readerThatGivesNoCredit_isEnded_andItsBlocksAreLeasedNoMore() {
    store();
    get(2);
    tier.remove(KEYS).block();
    assertThat(tier.arena().claimedSlots()).isPositive();

    clock.advanceTimeBy(KvServerOptions.defaults().stallTimeout().minusMillis(1));
    assertThat(failures).isEmpty();
    clock.advanceTimeBy(KvServerOptions.defaults().stallTimeout());

    assertThat(failures).singleElement().asString().contains("credit, or slices to be taken");
    assertThat(List.of(tier.arena().claimedSlots(), ingress.inUseBytes(), (long) running.count())).containsOnly(0L);
  }

  @Test
  void readerThatGivesCreditInTime_isNotEnded() {
    store();
    Reader slow = get(1);
    for (int i = 0; i < 100 && running.count() > 0; i++) {
      clock.advanceTimeBy(Duration.ofSeconds(1));
      slow.request(1);
    }
    assertThat(failures).isEmpty();
    assertThat(running.count()).isZero();
    clock.advanceTimeBy(KvServerOptions.defaults().stallTimeout().multipliedBy(3));
    assertThat(failures).isEmpty();
  }

  @Test
  void readerThatTakesOneSliceBeforeEachLimit_isEnded() {
    store();
    Reader slow = get(1);
    for (int i = 0; i < 3; i++) {
      clock.advanceTimeBy(KvServerOptions.defaults().stallTimeout().minus(Duration.ofSeconds(1)));
      slow.request(1);
    }
    assertThat(failures).singleElement().asString().contains("credit, or slices to be taken");
    tier.remove(KEYS).block();
    assertThat(List.of(tier.arena().claimedSlots(), ingress.inUseBytes(), (long) running.count())).containsOnly(0L);
  }

  @Test
  void requests_thatRun_areBounded_andOneMoreIsRefused() {
    store();
    List<BlockKey> many = Blocks.keys(Blocks.smallSpace(), 0, 1500);
    Messages.GetRequest get = new Messages.GetRequest(Messages.Keys.of(many), "SKIP", "LAYER_FIRST", 0, 4096, 1, 0);
    List<Reader> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) { // each some 24 KiB of 64
      Reader silent = new Reader() {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {
          subscription.request(1);
        }
      };
      responder.requestStream(WireNode.request(ControlCodec.CBOR, Routes.GET, get)).subscribe(silent);
      readers.add(silent);
    }
    assertThat(failures).as("a connection leaves as much to others as it has").hasSize(2)
        .allMatch(failure -> failure.toString().contains("messages of requests that run"));
    assertThat(requests.inUse()).isBetween(24_000L, 25_000L);

    readers.forEach(BaseSubscriber::cancel);
    assertThat(List.of(requests.inUse(), (long) running.count())).containsOnly(0L);
  }

  /// Reactor alone would throw such an `Error` to the caller, and tell neither the subscriber nor what cleans up.
  @Test
  void stream_thatRunsOutOfMemory_endsWithThatCause_andHoldsNothing() {
    store();
    BlockTier exhausted = (BlockTier) Proxy.newProxyInstance(BlockTier.class.getClassLoader(),
        new Class<?>[] {BlockTier.class}, (proxy, method, arguments) -> {
          Object answer = method.invoke(tier, arguments);
          if (method.getName().equals("lease")) {
            ((Mono<?>) answer).subscribe(); // the blocks are leased to the scope
            throw new OutOfMemoryError("as told");
          }
          return answer;
        });
    KvResponder failing = responder(exhausted);
    Messages.GetRequest get = new Messages.GetRequest(Messages.Keys.of(KEYS), "SKIP", "LAYER_FIRST", 0, 4096, 4, 1);
    failing.requestStream(WireNode.request(ControlCodec.CBOR, Routes.GET, get)).subscribe(new Reader());

    assertThat(failures).hasSize(1).allMatch(failure -> failure.toString().contains("OutOfMemoryError: as told"));
    assertThat(running.count()).isZero();
    tier.remove(KEYS).block();
    assertThat(tier.arena().claimedSlots()).isZero();
    assertThat(List.of(ingress.inUseBytes(), requests.inUse())).containsOnly(0L);
  }

  @Test
  void connection_gone_endsAStreamOfEvents_andWhateverComesLater() {
    Messages.EventsRequest events = new Messages.EventsRequest(0);
    responder.requestStream(WireNode.request(ControlCodec.CBOR, Routes.EVENTS, events)).subscribe(new Reader());
    responder.dispose();
    responder.requestStream(WireNode.request(ControlCodec.CBOR, Routes.EVENTS, events)).subscribe(new Reader());
    store();

    assertThat(failures).isEmpty();
    assertThat(memory.lent).isEmpty();
  }
}
