package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.Permits;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.rsocket.Payload;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/// The receiving end of one `put` channel: makes room window by window, grants credit for what there is room for, lands slices in
/// drafts of the tier, commits each window when its last granule was verified, and answers receipts.
///
/// Credit is exact: never more than the slices that the windows with room still need, and each charged to the ingress budget at the
/// negotiated maximum before it is granted. A sender that is slow holds [#CREDIT_SLICES] of the budget at most, whatever it announces.
/// One that has credit and stays silent is ended, for what it holds others may wait for, itself among them.
/// All state is touched by [#serial] steps only.
final class PutReceiver implements CoreSubscriber<Payload>, Subscription {
  /// What a channel is received with.
  ///
  /// @param idleLimit longest silence of a sender that has credit; more than that and less than twice that ends the channel
  /// @param over told once when the channel holds nothing any more
  record Setting(BlockTier tier, Permits budget, int windowsAhead, int maxSliceBytes, int windowBlocks,
      Function<Messages.PutSignal, Payload> encoder, Duration idleLimit, Scheduler timers, Runnable over) {}

  /// Most slices that are asked for ahead.
  private static final int CREDIT_SLICES = 16;

  private final CoreSubscriber<? super Payload> out;
  private final Setting setting;
  private final List<BlockKey> keys;
  private final Serial serial = new Serial(this::fail);
  private final BlockScope scope = new BlockScope();
  private final ArrayDeque<Messages.PutSignal> signals = new ArrayDeque<>();
  private final ArrayDeque<Window> windows = new ArrayDeque<>();
  private @Nullable Subscription in;
  private @Nullable Disposable reserving;
  private Permits.@Nullable Ticket ticket;
  private int nextKey;
  private int nextWindow;
  private int committing;
  private @Nullable Disposable idle;
  private long arrivals;
  private long outstanding;
  private long requested;
  private boolean senderDone;
  private volatile boolean done;

  PutReceiver(CoreSubscriber<? super Payload> out, Setting setting, List<BlockKey> keys) {
    this.out = out;
    this.setting = setting;
    this.keys = keys;
  }

  /// One window: a run of keys with room for those wanted.
  private static final class Window {
    final int index;
    final Reservation reservation;
    final Map<Integer, BlockDraft> drafts = new HashMap<>();
    /// Slices that must still come: exact once the first was seen, before that the least that can carry the bytes.
    long slicesLeft;
    boolean exact;

    Window(int index, Reservation reservation, long slicesLeft) {
      this.index = index;
      this.reservation = reservation;
      this.slicesLeft = slicesLeft;
    }
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
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
      if (outstanding == 0) {
        payload.release();
        fail(WireFormatException.request("payloads", "<= the credit given", "one more"));
        return;
      }
      outstanding--;
      arrivals++;
      try {
        land(payload.sliceData());
      } catch (RuntimeException e) {
        fail(e);
      } finally {
        payload.release();
        setting.budget().release(setting.maxSliceBytes());
      }
      proceed();
    });
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      senderDone = true;
      fail(error);
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      senderDone = true;
      Window open = windows.peek();
      if (open != null || nextKey < keys.size()) {
        fail(incomplete(open == null ? nextKey : firstKey(open)));
      }
    });
  }

  @Override
  public void request(long n) {
    serial.run(() -> {
      requested = Operators.addCap(requested, n);
      proceed();
    });
  }

  @Override
  public void cancel() {
    done = true;
    serial.run(() -> end(() -> {}));
  }

  private void proceed() {
    if (done) {
      return;
    }
    while (requested > 0 && !signals.isEmpty()) {
      if (requested != Long.MAX_VALUE) {
        requested--;
      }
      out.onNext(setting.encoder().apply(signals.poll()));
    }
    if (nextKey == keys.size() && windows.isEmpty() && committing == 0 && reserving == null) {
      if (signals.isEmpty()) {
        finish();
      }
      return;
    }
    makeRoom();
    grant();
  }

  private void makeRoom() {
    if (reserving != null || nextKey == keys.size() || windows.size() >= setting.windowsAhead() || signals.size() > setting.windowsAhead()) {
      return;
    }
    int first = nextKey;
    List<BlockKey> run = keys.subList(first, Math.min(first + setting.windowBlocks(), keys.size()));
    nextKey += run.size();
    Disposable.Swap waiting = Disposables.swap();
    reserving = waiting;
    waiting.update(setting.tier().reserve(run, scope).subscribe(
        room -> serial.run(() -> open(first, run, room)), error -> serial.run(() -> fail(error))));
  }

  private void open(int first, List<BlockKey> run, Reservation room) {
    reserving = null;
    if (done) {
      room.close();
      return;
    }
    BitSet wanted = new BitSet();
    long bytes = 0;
    Window window = new Window(nextWindow++, room, 0);
    Map<BlockKey, Integer> places = new HashMap<>();
    for (int i = 0; i < run.size(); i++) {
      places.put(run.get(i), i);
    }
    for (BlockDraft draft : room.drafts()) {
      int place = requireNonNull(places.get(draft.key()), "a draft is of a reserved key");
      wanted.set(place);
      window.drafts.put(first + place, draft);
      bytes += draft.layout().blockBytes();
    }
    window.slicesLeft = Math.ceilDiv(bytes, (long) setting.maxSliceBytes());
    if (window.drafts.isEmpty()) {
      room.close();
    } else if (senderDone) {
      room.close();
      fail(incomplete(firstKey(window)));
      return;
    } else {
      windows.add(window);
    }
    signals.add(new Messages.PutSignal(
        new Messages.Room(window.index, first, Messages.Bits.of(Presence.of(run.size(), wanted))), null));
    proceed();
  }

  /// Grants as much credit as the open windows need and the budget allows; waits in the budget's line only when nothing is on its way.
  private void grant() {
    long needed = -outstanding;
    for (Window window : windows) {
      needed += window.slicesLeft;
    }
    needed = Math.min(needed, CREDIT_SLICES - outstanding);
    int granted = 0;
    while (granted < needed && ticket == null && setting.budget().tryAcquire(setting.maxSliceBytes())) {
      granted++;
    }
    if (granted > 0) {
      credit(granted);
    } else if (needed > 0 && outstanding == 0 && ticket == null) {
      ticket = setting.budget().acquire(setting.maxSliceBytes(), () -> serial.run(this::granted));
    }
  }

  private void granted() {
    ticket = null;
    if (done) {
      setting.budget().release(setting.maxSliceBytes());
    } else {
      credit(1);
      proceed();
    }
  }

  private void credit(int slices) {
    outstanding += slices;
    if (idle == null) {
      watch();
    }
    if (in != null) {
      in.request(slices);
    }
  }

  private void watch() {
    long seen = arrivals;
    idle = setting.timers().schedule(() -> serial.run(() -> listen(seen)), setting.idleLimit().toMillis(), TimeUnit.MILLISECONDS);
  }

  /// Ends the channel if nothing came since `seen` though something was asked for.
  private void listen(long seen) {
    idle = null;
    if (done || outstanding == 0) {
      return;
    }
    if (arrivals == seen) {
      fail(new AwaitTimeoutException("slices that were asked for", setting.idleLimit()));
    } else {
      watch();
    }
  }

  private void land(ByteBuf data) {
    Window window = windows.peek();
    if (window == null) {
      throw WireFormatException.slice("window", "one with room", "none");
    }
    BlockDraft any = window.drafts.values().iterator().next();
    SliceHeader header = SliceHeader.decode(data, any.key().space(), any.layout(), setting.maxSliceBytes(), keys.size());
    header.requireKeys(keys);
    if (header.place().window() != window.index) {
      throw WireFormatException.slice("window", "" + window.index, header.place().window());
    }
    if (window.exact && header.place().remaining() != window.slicesLeft - 1) {
      throw WireFormatException.slice("remaining", "" + (window.slicesLeft - 1), header.place().remaining());
    }
    window.exact = true;
    window.slicesLeft = header.place().remaining();
    for (int i = 0; i < header.positions().length; i++) {
      BlockDraft draft = window.drafts.get(header.positions()[i]);
      if (draft == null) {
        throw WireFormatException.slice("position", "a wanted key of window " + window.index, header.positions()[i]);
      }
      Landing.land(data, header, i, draft);
    }
    if (header.endsWindow()) {
      windows.remove();
      commit(window);
    }
  }

  private void commit(Window window) {
    for (BlockDraft draft : window.drafts.values()) {
      draft.requireComplete();
    }
    committing++;
    List<Integer> positions = new ArrayList<>(window.drafts.keySet());
    positions.sort(null);
    List<BlockDraft> drafts = positions.stream().map(window.drafts::get).toList();
    window.reservation.commit(drafts).subscribe(
        receipts -> serial.run(() -> stored(window, receipts)), error -> serial.run(() -> fail(error)));
  }

  /// A tier may answer fewer receipts than there were drafts, so each is found by its key.
  private void stored(Window window, List<Receipt> receipts) {
    committing--;
    window.reservation.close();
    Map<BlockKey, Integer> positions = new HashMap<>();
    window.drafts.forEach((position, draft) -> positions.put(draft.key(), position));
    List<Messages.Stored> stored = new ArrayList<>(receipts.size());
    for (Receipt receipt : receipts) {
      Integer position = requireNonNull(positions.get(receipt.key()), "a receipt is for a committed key");
      stored.add(Messages.Stored.of(position, receipt));
    }
    if (!done) {
      signals.add(new Messages.PutSignal(null, stored));
      proceed();
    }
  }

  private IncompleteBlockException incomplete(int position) {
    return new IncompleteBlockException(keys.get(position), 0, setting.tier().info().space().layout().granules());
  }

  private static int firstKey(Window window) {
    return window.drafts.keySet().stream().mapToInt(Integer::intValue).min().orElse(0);
  }

  /// Gives everything back, tells the sender, and only then says that the channel is over: a node that drains closes its connections
  /// when the last one is.
  private void end(Runnable last) {
    try {
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

  private void fail(Throwable error) {
    if (!done) {
      done = true;
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
    if (idle != null) {
      idle.dispose();
      idle = null;
    }
    if (ticket != null && ticket.cancel()) {
      ticket = null;
    }
    if (outstanding > 0) {
      setting.budget().release(outstanding * setting.maxSliceBytes());
      outstanding = 0;
    }
    windows.clear();
    signals.clear();
    scope.close();
  }
}
