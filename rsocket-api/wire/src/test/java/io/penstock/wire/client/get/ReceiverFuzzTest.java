package io.penstock.wire.client.get;

import static io.penstock.wire.Fuzz.ALL;
import static io.penstock.wire.Fuzz.KEYS;
import static io.penstock.wire.Fuzz.LAYOUT;
import static io.penstock.wire.Fuzz.SPACE;
import static io.penstock.wire.Fuzz.each;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.SlabArena;
import io.penstock.budget.Permits;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierListener;
import io.penstock.wire.Fuzz;
import io.penstock.wire.SliceStream;
import io.penstock.wire.client.link.AnswerLimits;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.SilenceRules;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.server.route.PutReceiver;
import io.penstock.wire.slice.LandedSlice;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.test.scheduler.VirtualTimeScheduler;

/// 4,000 broken streams: nothing crashes, nothing wrong is delivered, nothing leaks.
@Timeout(120)
final class ReceiverFuzzTest {
  private final LeakLedger leaks = new LeakLedger();
  private final SlabArena arena = leaks.watch(new SlabArena("fuzz", LAYOUT, 2 * KEYS, 4));
  private final ByteBudget budget = leaks.watch(new ByteBudget("fuzz", 1 << 20, 4));
  private final HostTier tier =
      new HostTier(SPACE, KEYS, StackOptions.defaults("dram").withIngressBlocks(2 * KEYS), TierListener.noop());
  private final SliceStream[] shapes = Fuzz.shapes();
  private final List<List<byte[]>> streams = Fuzz.streams(shapes);

  @AfterEach
  void nothingLeaks() {
    leaks.watch("slots of the tier, once it is closed", tier.arena()::claimedSlots);
    tier.close().block();
    leaks.close();
  }

  @Test
  void getReceiver_mutated_deliversNothingWrong() {
    each(2_000_000, 2_500, this::get);
  }

  @Test
  void putReceiver_mutated_storesNothingWrong() {
    each(3_000_000, 1_500, this::put);
  }

  @Tag("proof")
  @Timeout(1200)
  @Test
  void receivers_mutatedMillionsOfTimes_hold() {
    each(30_000_000, 500_000, this::get);
    each(40_000_000, 500_000, this::put);
  }

  private void get(SplittableRandom random) {
    int shape = random.nextInt(shapes.length);
    SliceStream stream = shapes[shape];
    List<byte[]> payloads = new ArrayList<>();
    BitSet all = new BitSet();
    all.set(0, KEYS);
    Messages.Bits none = Messages.Bits.of(Presence.of(KEYS, new BitSet()));
    Messages.Bits found = Messages.Bits.of(Presence.of(KEYS, all));
    payloads.add(bytes(new Messages.Found(found, found, none, none)));
    payloads.addAll(streams.get(shape));
    boolean forged = FaultyPeer.broken(payloads, 1, random);
    Reader reader = new Reader(payloads, !forged, random.nextInt(20) == 0 ? random.nextInt(1, 5) : Integer.MAX_VALUE);
    GetReceiver receiver = new GetReceiver(
        new GetSetting(arena, SPACE.id(), budget.permits(), stream.maxSliceBytes(),
            Math.min(stream.windowBlocks(), KEYS), 4, 0,
            stream.order(), OnMiss.SKIP, ControlCodec.CBOR,
            AnswerLimits.NONE, "node", error -> error),
        ALL, (open, decision) -> {}, reader::refused);
    FaultyPeer peer = new FaultyPeer(receiver, payloads, random.nextInt(20) == 0);
    receiver.onSubscribe(peer);
    peer.send();
    receiver.read(reader);
    if (!reader.ended) {
      receiver.cancel();
    }
    requireTyped(reader.failure);
    peer.requireReleased();
    leaks.assertEmpty();
  }

  private static byte[] bytes(Object message) {
    ByteBuf data = ControlCodec.CBOR.encode(message, UnpooledByteBufAllocator.DEFAULT);
    byte[] bytes = new byte[data.readableBytes()];
    data.readBytes(bytes).release();
    return bytes;
  }

  /// Reads what landed and compares: with what a block of that key has, or, if a CRC was forged, with what came.
  private static final class Reader implements CoreSubscriber<LandedSlice> {
    private final List<byte[]> payloads;
    private final boolean honest;
    private final int most;
    private @Nullable Subscription subscription;
    private @Nullable Throwable failure;
    private boolean ended;
    private int read;

    Reader(List<byte[]> payloads, boolean honest, int most) {
      this.payloads = payloads;
      this.honest = honest;
      this.most = most;
    }

    @Override
    public void onSubscribe(Subscription s) {
      subscription = s;
      s.request(3);
    }

    @Override
    public void onNext(LandedSlice landed) {
      byte[] payload = payloads.get(read + 1); // the decision is the first
      int length = landed.header().range().bytes(LAYOUT);
      for (int i = 0; i < landed.drafts().size(); i++) {
        BlockDraft draft = landed.drafts().get(i);
        assertEquals(ALL.get(landed.header().positions()[i]), draft.key());
        if (draft.unverified(landed.header().range()).isEmpty() && landed.header().range().isWhole()) {
          try (LayerSpan span = draft.span(landed.header().range())) {
            int from = landed.header().bytes() + i * length;
            byte[] came = Arrays.copyOfRange(payload, from, from + length);
            assertTrue(Arrays.equals(came, span.memory().toArray(ValueLayout.JAVA_BYTE)),
                "bytes that landed are those that came");
            if (honest) {
              Blocks.assertBytes(span);
            }
          }
        }
      }
      if (landed.header().endsWindow()) {
        for (BlockDraft draft : landed.drafts()) {
          try (LayerSpan whole = draft.span(GranuleRange.all(LAYOUT))) { // complete, then
            if (honest) {
              Blocks.assertBytes(whole);
            }
          }
        }
      }
      if (++read == most && subscription != null) {
        ended = true;
        subscription.cancel();
      } else if (subscription != null) {
        subscription.request(1);
      }
    }

    @Override
    public void onError(Throwable error) {
      ended = true;
      failure = error;
    }

    @Override
    public void onComplete() {
      ended = true;
    }

    void refused(Throwable error) {
      onError(error);
    }
  }

  private void put(SplittableRandom random) {
    int shape = random.nextInt(shapes.length);
    SliceStream stream = shapes[shape];
    List<byte[]> payloads = new ArrayList<>(streams.get(shape));
    boolean forged = FaultyPeer.broken(payloads, 0, random);
    Signals signals = new Signals();
    Permits windows = new Permits("windows", KEYS, 4);
    PutReceiver receiver = new PutReceiver(signals,
        new PutReceiver.Setting(tier, PutTerms.plain(), false,
            new PutReceiver.Bounds(Budget.of(budget.permits()),
                new BudgetLane("windows", Budget.of(windows), KEYS, 4).part("windows", KEYS, 4, 4),
                2, SilenceRules.of(Duration.ofMinutes(1), VirtualTimeScheduler.create())),
            stream.maxSliceBytes(), Math.min(stream.windowBlocks(), KEYS), ReceiverFuzzTest::payload, null,
            () -> signals.over++, StreamClock.NONE),
        ALL);
    FaultyPeer peer = new FaultyPeer(receiver, payloads, random.nextInt(20) == 0);
    receiver.onSubscribe(peer);
    peer.send();
    if (!signals.ended) {
      receiver.cancel();
    }
    requireTyped(signals.failure);
    assertTrue(signals.over > 0, "the end is told");
    peer.requireReleased();
    requireHonest(signals.failure == null && signals.ended, forged);
    leaks.assertEmpty();
    tier.remove(ALL).block();
    assertEquals(0, tier.arena().claimedSlots(), "slots of the tier");
  }

  /// What is visible is complete and right; what succeeded is visible.
  private void requireHonest(boolean succeeded, boolean forged) {
    BlockScope scope = new BlockScope();
    int count = 0;
    for (Block block : tier.lease(ALL, OnMiss.SKIP, scope).flatMapMany(lease -> lease.windows(KEYS, scope))
        .flatMapIterable(window -> window).map(LeasedBlock::block).toIterable()) {
      count++;
      block.verify("fuzz");
      if (!forged) {
        Blocks.assertBytes(block);
      }
    }
    scope.close();
    if (succeeded) {
      assertEquals(KEYS, count);
    }
  }

  private static Payload payload(PutMessages.PutSignal signal) {
    return ByteBufPayload.create(ControlCodec.CBOR.encode(signal, UnpooledByteBufAllocator.DEFAULT));
  }

  private static final class Signals implements CoreSubscriber<Payload> {
    private @Nullable Throwable failure;
    private boolean ended;
    private int over;

    @Override
    public void onSubscribe(Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Payload payload) {
      payload.release();
    }

    @Override
    public void onError(Throwable error) {
      ended = true;
      failure = error;
    }

    @Override
    public void onComplete() {
      ended = true;
    }
  }

  private static void requireTyped(@Nullable Throwable failure) {
    assertTrue(failure == null || failure instanceof KvException || failure instanceof CancellationException,
        () -> trace(failure));
  }

  private static String trace(@Nullable Throwable failure) {
    StringWriter out = new StringWriter();
    if (failure != null) {
      failure.printStackTrace(new PrintWriter(out));
    }
    return "failure must be typed (was " + out + ")";
  }
}
