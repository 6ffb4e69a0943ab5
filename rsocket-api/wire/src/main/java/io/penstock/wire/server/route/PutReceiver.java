package io.penstock.wire.server.route;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.carrier.SliceReceiver;
import io.penstock.operator.Demand;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.SerialSubscription;
import io.penstock.wire.credit.SilenceLimit;
import io.penstock.wire.credit.SliceCredit;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.WireErrors;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.slice.ArrivingSlice;
import io.penstock.wire.slice.Landing;
import io.penstock.wire.transport.frame.FrameBody;
import io.penstock.wire.transport.frame.StreamBodies;
import io.rsocket.Payload;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;

/// The receiving end of one `put` channel: makes room window by window, grants credit for what there is room for, lands
/// slices in drafts of the tier ([IncomingWindow]), commits each window when its last granule was verified, and answers
/// receipts.
///
/// Credit is exact: never more than the slices that the windows with room still need ([SliceCredit]). A slow sender
/// holds [#CREDIT_SLICES] of the budget at most, and the blocks of its windows are a fair part of those that all open
/// windows may have: a window has fewer blocks when many are open. A sender that owes slices, or takes no answer, and
/// stays silent or trickles is ended ([SilenceLimit]). A sender waits for blocks of windows, then for memory of the
/// tier, then for bytes of the budget: in this order, so puts never wait in a ring. All state is touched by [#serial]
/// steps only.
public final class PutReceiver extends SerialSubscription implements CoreSubscriber<Payload> {
  /// What a channel is received with.
  ///
  /// @param terms pin and group of all blocks
  /// @param outcomes whether a damaged block fails alone
  /// @param shared reads slices whose frames have references; null if there must be none
  /// @param over told once when the channel holds nothing any more
  /// @param clock hears what the stream waits for, what it moved, and of its end
  public record Setting(BlockTier tier, PutTerms terms, boolean outcomes, Bounds bounds, int maxSliceBytes,
      int windowBlocks,
      Function<PutMessages.PutSignal, Payload> encoder, @Nullable SliceReceiver shared, Runnable over,
      StreamClock clock) {}

  /// What all puts of a connection share.
  ///
  /// @param room blocks that open windows of the connection may have
  /// @param stall how long a sender may be silent
  public record Bounds(Budget budget, BudgetLane room, int windowsAhead, SilenceLimit.Rule stall) {}

  /// Maximum number of slices that are requested ahead.
  private static final int CREDIT_SLICES = 16;

  private final CoreSubscriber<? super Payload> out;
  private final Setting setting;
  private final List<BlockKey> keys;
  private final Landing landing;
  private final BlockScope scope = new BlockScope();
  private final ArrayDeque<PutMessages.PutSignal> signals = new ArrayDeque<>();
  /// Windows with room for more slices.
  private final ArrayDeque<IncomingWindow> windows = new ArrayDeque<>();
  private final SliceCredit credit;
  private final SilenceLimit silence;
  private final StreamBodies.Stream bodies = new StreamBodies.Stream(ArrivingSlice::headBytes, this::arrives);
  private @Nullable Subscription in;
  private @Nullable Disposable reserving;
  /// The wait for a block of a window.
  private Budget.@Nullable Place waiting;
  /// Blocks of open windows.
  private long roomTaken;
  /// Bytes of slices that arrived.
  private long landed;
  private int nextKey;
  private int nextWindow;
  private int committing;
  private boolean senderDone;
  /// The slice that comes now, if its bytes are read into its drafts, and how many they are.
  private @Nullable ArrivingSlice arriving;
  private int arrivingBytes;

  public PutReceiver(CoreSubscriber<? super Payload> out, Setting setting, List<BlockKey> keys) {
    this.out = out;
    this.setting = setting;
    this.keys = keys;
    this.landing = Landing.of(setting.shared(), window -> {}, setting.clock());
    this.credit = new SliceCredit(setting.bounds().budget(), setting.maxSliceBytes(), serial, this::proceed);
    this.silence =
        new SilenceLimit("slices that were asked for, or credit for answers,", setting.bounds().stall(), serial,
            this::isOwed,
            () -> landed);
  }

  /// Whether the sender owes slices, or credit for an answer.
  private boolean isOwed() {
    return !done && (credit.outstanding() > 0 || (requested == 0 && !signals.isEmpty()));
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
    bodies.opened();
    credit.from(subscription);
    out.onSubscribe(this);
    serial.run(this::proceed);
  }

  @Override
  public void onNext(Payload payload) {
    serial.run(() -> {
      if (done) { // its charge was refunded when the channel stopped
        payload.release();
        return;
      }
      landed += arriving == null ? payload.sliceData().readableBytes() : arrivingBytes;
      if (credit.spend(payload, this::land)) {
        commit(windows.remove());
      }
      proceed();
    });
  }

  /// A sender that sent too much is told so. One that has given up, or is gone, gets no answer: RSocket cancels the
  /// answers next.
  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      senderDone = true;
      if (Exceptions.isOverflow(error)) {
        fail(WireErrors.fromWire(error, "the sender"));
      } else if (!done) {
        done = true;
        setting.clock().ended(WireErrors.fromWire(error, "the sender"));
        end(() -> {});
      }
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      senderDone = true;
      IncomingWindow open = windows.peek();
      if (open != null || nextKey < keys.size()) {
        fail(incomplete(open == null ? nextKey : open.firstWanted()));
      }
    });
  }

  @Override
  protected void letGo() {
    end(() -> {});
  }

  @Override
  protected void proceed() {
    if (done) {
      return;
    }
    while (requested > 0 && !signals.isEmpty()) {
      requested = Demand.minus(requested, 1);
      out.onNext(setting.encoder().apply(signals.poll()));
    }
    if (nextKey == keys.size() && windows.isEmpty() && committing == 0 && reserving == null) {
      if (signals.isEmpty()) {
        finish();
        return;
      }
    } else {
      makeRoom();
      grant();
    }
    setting.clock().waits(waitsFor());
    silence.watch();
  }

  private StreamClock.Wait waitsFor() {
    if (credit.isWaiting()) {
      return credit.holder().culprit();
    } else if (credit.outstanding() > 0 || (requested == 0 && !signals.isEmpty())) {
      return StreamClock.Wait.PEER;
    }
    return reserving != null || waiting != null ? StreamClock.Wait.ROOM : StreamClock.Wait.TIER;
  }

  private void makeRoom() {
    if (reserving != null || waiting != null || nextKey == keys.size()
        || windows.size() >= setting.bounds().windowsAhead()
        || signals.size() > setting.bounds().windowsAhead()) {
      return;
    }
    int blocks = (int) setting.bounds().room().takeUpTo(Math.min(setting.windowBlocks(), keys.size() - nextKey));
    if (blocks > 0) {
      reserve(blocks);
    } else {
      waiting = setting.bounds().room().acquire(1, () -> serial.run(this::roomCame),
          refusal -> serial.run(() -> fail(refusal)));
    }
  }

  private void roomCame() {
    waiting = null;
    if (done) {
      setting.bounds().room().release(1);
    } else {
      long more = setting.bounds().room().takeUpTo(Math.min(setting.windowBlocks(), keys.size() - nextKey) - 1L);
      reserve(1 + (int) more);
      proceed();
    }
  }

  /// @param blocks taken for the next window
  private void reserve(int blocks) {
    roomTaken += blocks;
    int first = nextKey;
    List<BlockKey> run = keys.subList(first, first + blocks);
    nextKey += blocks;
    Disposable.Swap reservation = Disposables.swap();
    reserving = reservation;
    reservation.update(setting.tier().reserve(run, setting.terms(), scope).subscribe(
        room -> serial.run(() -> open(first, run, room)), error -> serial.run(() -> fail(error))));
  }

  private void open(int first, List<BlockKey> run, Reservation room) {
    reserving = null;
    if (done) {
      room.close();
      return;
    }
    IncomingWindow window = new IncomingWindow(nextWindow++, first, run, room, setting.maxSliceBytes(),
        setting.outcomes());
    if (window.isEmpty()) {
      room.close();
      giveRoom(window.blocks());
    } else if (senderDone) {
      room.close();
      fail(incomplete(window.firstWanted()));
      return;
    } else {
      windows.add(window);
    }
    signals.add(new PutMessages.PutSignal(window.room(), null));
    proceed();
  }

  /// Grants as much credit as the open windows need and the budget allows.
  private void grant() {
    long needed = 0;
    for (IncomingWindow window : windows) {
      needed += window.slicesLeft();
    }
    credit.raise(Math.min(needed, CREDIT_SLICES));
  }

  private void giveRoom(long blocks) {
    long given = Math.min(blocks, roomTaken); // a channel that has stopped has given all back
    if (given > 0) {
      roomTaken -= given;
      setting.bounds().room().release(given);
    }
  }

  private @Nullable FrameBody arrives(ByteBuf head, int bytes) {
    return serial.tryGet(() -> {
      IncomingWindow window = windows.peek();
      if (done || window == null || credit.outstanding() == 0) {
        return null;
      }
      try {
        arriving = window.arrives(head, bytes, keys);
      } catch (IllegalStateException e) {
        throw window.causeOf(e, setting.tier().info().name());
      }
      arrivingBytes = bytes;
      return arriving;
    });
  }

  /// True if that was the last slice of the first open window.
  private boolean land(ByteBuf data) {
    IncomingWindow window = windows.peek();
    if (window == null) {
      throw WireFormatException.slice("window", "one with room", "none");
    }
    ArrivingSlice arrived = arriving;
    arriving = null;
    try {
      return arrived == null ? window.land(data, keys, landing) : window.land(arrived, landing);
    } catch (IllegalStateException e) {
      throw window.causeOf(e, setting.tier().info().name());
    }
  }

  private void commit(IncomingWindow window) {
    committing++;
    window.commit().subscribe(receipts -> serial.run(() -> stored(window, receipts)),
        error -> serial.run(() -> fail(error)));
  }

  private void stored(IncomingWindow window, List<Receipt> receipts) {
    committing--;
    List<PutMessages.Stored> stored = window.stored(receipts);
    giveRoom(window.blocks());
    if (!done) {
      signals.add(
          new PutMessages.PutSignal(null, stored, window.failed(), setting.shared() == null ? null : window.number()));
      proceed();
    }
  }

  private IncompleteBlockException incomplete(int position) {
    return new IncompleteBlockException(keys.get(position), 0, setting.tier().info().space().layout().granules());
  }

  /// Gives everything back, answers the sender, and only then reports that the channel is over: a node that drains
  /// closes its connections when the last one is.
  private void end(Runnable last) {
    try {
      setting.clock().ended(null);
      stop();
    } finally {
      last.run();
      setting.over().run();
    }
  }

  private void finish() {
    done = true;
    end(out::onComplete);
  }

  @Override
  protected void fail(Throwable error) {
    if (!done) {
      done = true;
      setting.clock().ended(error);
      end(() -> out.onError(error));
    }
  }

  /// Gives back everything: the sender's credit, room, drafts, bytes in flight.
  private void stop() {
    if (in != null && !senderDone) {
      in.cancel();
    }
    if (reserving != null) {
      reserving.dispose();
      reserving = null;
    }
    if (waiting != null && waiting.cancel()) {
      waiting = null;
    }
    silence.stop();
    bodies.close();
    credit.stop();
    windows.clear();
    signals.clear();
    scope.close();
    giveRoom(roomTaken);
  }
}
