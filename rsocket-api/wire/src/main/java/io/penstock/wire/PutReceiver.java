package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierClosedException;
import io.rsocket.Payload;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;

/// The receiving end of one `put` channel: announces window by window which keys are wanted, grants credit for their
/// slices, claims room in the tier when the first slice of a window has come, lands slices in drafts
/// ([IncomingWindow]), commits each window when its last granule was verified, and answers receipts.
///
/// Credit is exact: never more than the slices that the announced windows still need ([SliceCredit]). A slow sender
/// holds [#CREDIT_SLICES] of the budget at most, whatever it announces; a silent one holds no room in the tier. A sender
/// that has credit and stays silent is ended ([SilenceLimit]). All state is touched by [#serial] steps only.
final class PutReceiver extends SerialSubscription implements CoreSubscriber<Payload> {
  /// What a channel is received with.
  ///
  /// @param stall longest silence of a sender that has credit; more than that and less than twice that ends the channel
  /// @param over told once when the channel holds nothing any more
  record Setting(BlockTier tier, Budget budget, int windowsAhead, int maxSliceBytes, int windowBlocks,
      Function<PutMessages.PutSignal, Payload> encoder, SilenceLimit.Rule stall, Runnable over) {}

  /// Most slices that are asked for ahead, or wait for room.
  private static final int CREDIT_SLICES = 16;

  private final CoreSubscriber<? super Payload> out;
  private final Setting setting;
  private final List<BlockKey> keys;
  private final BlockScope scope = new BlockScope();
  private final ArrayDeque<PutMessages.PutSignal> signals = new ArrayDeque<>();
  /// Those whose slices have not all landed; the slices that come are those of the first one.
  private final ArrayDeque<IncomingWindow> windows = new ArrayDeque<>();
  /// Slices of the first windows, which wait for room.
  private final ArrayDeque<Payload> held = new ArrayDeque<>();
  private final SliceCredit credit;
  private final SilenceLimit silence;
  private @Nullable Subscription in;
  /// The question which keys of the next window are wanted.
  private @Nullable Disposable asking;
  /// The wait for room of the first window.
  private @Nullable Disposable claiming;
  private int nextKey;
  private int nextWindow;
  private int committing;
  private boolean senderDone;

  PutReceiver(CoreSubscriber<? super Payload> out, Setting setting, List<BlockKey> keys) {
    this.out = out;
    this.setting = setting;
    this.keys = keys;
    this.credit = new SliceCredit(setting.budget(), setting.maxSliceBytes(), serial, this::proceed);
    this.silence =
        new SilenceLimit("slices that were asked for", setting.stall(), serial,
            () -> !done && credit.outstanding() > 0 && claiming == null);
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
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
      silence.heard();
      credit.arrived(payload);
      held.add(payload);
      proceed();
    });
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      senderDone = true;
      fail(WireErrors.fromWire(error, "the sender"));
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      senderDone = true;
      if (nextKey < keys.size()) {
        fail(incomplete(windows.isEmpty() ? nextKey : windows.element().firstWanted()));
      }
      proceed();
    });
  }

  @Override
  void letGo() {
    end(() -> {});
  }

  @Override
  void proceed() {
    if (done) {
      return;
    }
    while (requested > 0 && !signals.isEmpty()) {
      requested = Demand.minus(requested, 1);
      out.onNext(setting.encoder().apply(signals.poll()));
    }
    landHeld();
    if (nextKey == keys.size() && windows.isEmpty() && committing == 0 && asking == null) {
      if (signals.isEmpty()) {
        finish();
      }
    } else if (senderDone && held.isEmpty() && !windows.isEmpty()) {
      fail(incomplete(windows.element().firstWanted()));
    } else {
      announce();
      grant();
    }
  }

  /// Asks which keys of the next window are wanted.
  private void announce() {
    if (asking != null || nextKey == keys.size() || windows.size() >= setting.windowsAhead()
        || signals.size() > setting.windowsAhead()) {
      return;
    }
    int first = nextKey;
    List<BlockKey> run = keys.subList(first, Math.min(first + setting.windowBlocks(), keys.size()));
    nextKey += run.size();
    Disposable.Swap question = Disposables.swap();
    asking = question;
    question.update(setting.tier().contains(run).subscribe(
        present -> serial.run(() -> announce(first, run, present)), error -> serial.run(() -> fail(error))));
  }

  private void announce(int first, List<BlockKey> run, Presence present) {
    asking = null;
    if (done) {
      return;
    }
    IncomingWindow window = new IncomingWindow(nextWindow++, first, run, present, setting.maxSliceBytes());
    if (!window.isEmpty()) {
      windows.add(window);
    }
    signals.add(new PutMessages.PutSignal(window.room(), null));
    proceed();
  }

  /// Lands what has come, as far as there is room.
  private void landHeld() {
    while (!done && !held.isEmpty()) {
      IncomingWindow window = windows.peek();
      if (window == null) {
        throw WireFormatException.slice("window", "one that was announced", "none");
      }
      if (!window.hasRoom()) {
        claim(window);
        return;
      }
      if (credit.land(held.remove(), data -> land(window, data))) {
        commit(windows.remove());
      }
    }
  }

  private boolean land(IncomingWindow window, ByteBuf data) {
    try {
      return window.land(data, keys, layout());
    } catch (IllegalStateException e) {
      throw window.isRevoked() ? new TierClosedException(setting.tier().info().name()) : e;
    }
  }

  /// Waits for room, unless it does already.
  private void claim(IncomingWindow window) {
    if (claiming == null) {
      Disposable.Swap wait = Disposables.swap();
      claiming = wait;
      wait.update(setting.tier().reserve(window.keys(), scope).subscribe(
          room -> serial.run(() -> claimed(window, room)), error -> serial.run(() -> fail(error))));
    }
  }

  private void claimed(IncomingWindow window, Reservation room) {
    claiming = null;
    if (done) {
      room.close();
    } else {
      window.land(room);
      proceed();
    }
  }

  /// Grants as much credit as the announced windows need and the budget allows.
  private void grant() {
    long needed = -held.size();
    for (IncomingWindow window : windows) {
      needed += window.slicesLeft(layout());
    }
    credit.raise(Math.min(needed, CREDIT_SLICES - held.size()));
    silence.watch();
  }

  private void commit(IncomingWindow window) {
    committing++;
    window.commit().subscribe(receipts -> serial.run(() -> stored(window, receipts)),
        error -> serial.run(() -> fail(error)));
  }

  private void stored(IncomingWindow window, List<Receipt> receipts) {
    committing--;
    List<PutMessages.Stored> stored = window.stored(receipts);
    if (!done) {
      signals.add(new PutMessages.PutSignal(null, stored));
      proceed();
    }
  }

  private IncompleteBlockException incomplete(int position) {
    return new IncompleteBlockException(keys.get(position), 0, layout().granules());
  }

  private BlockLayout layout() {
    return setting.tier().info().space().layout();
  }

  /// Gives everything back, tells the sender, and only then says that the channel is over: a node that drains closes
  /// its connections when the last one is.
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

  @Override
  void fail(Throwable error) {
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
    dispose(asking);
    dispose(claiming);
    silence.stop();
    credit.stop();
    held.forEach(Payload::release);
    held.clear();
    windows.clear();
    signals.clear();
    scope.close();
  }

  private static void dispose(@Nullable Disposable work) {
    if (work != null) {
      work.dispose();
    }
  }
}
