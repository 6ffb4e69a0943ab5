package io.penstock.wire.client.get;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.budget.Permits;
import io.penstock.operator.Demand;
import io.penstock.tier.OnMiss;
import io.penstock.wire.client.link.AnswerLimit;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.SliceCredit;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.LateErrors;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.slice.ArrivingSlice;
import io.penstock.wire.slice.LandedSlice;
import io.penstock.wire.slice.Landing;
import io.penstock.wire.transport.frame.FrameBody;
import io.penstock.wire.transport.frame.StreamBodies;
import io.rsocket.Payload;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.util.context.Context;

/// The receiving end of one `get` stream. The first payload is the server's decision, then slices follow. The first of
/// them are asked for with the question if arena and budget have room, and wait here for a reader; the others when a
/// reader asks.
///
/// Credit ([SliceCredit]) is granted only for slices that have a place to land ([GetWindows]), for which slots are held
/// beforehand ([SlotsAhead]). While every key that may still come has a slot, credit is limited by demand and budget
/// alone, as long as blocks come that the server has: a stream that only awaits blocks keeps one slice of the budget
/// from others. Otherwise it covers the rest of the current window, and one slice of the next if a whole window is held
/// for it and no block of the current one is still to begin. All state is touched by [#serial] steps only.
///
/// A server is not trusted: whatever it sends unasked, twice, for keys it did not promise, or not at all, is a typed
/// error.
public final class GetReceiver extends OneReader
    implements
      CoreSubscriber<Payload>,
      AnswerLimit.Pending {
  private final GetSetting setting;
  private final List<BlockKey> keys;
  private final BiConsumer<GetReceiver, Messages.Found> decided;
  private final Consumer<Throwable> refused;
  private final BlockScope scope = new BlockScope();
  private final SliceCredit credit;
  private final SlotsAhead slots;
  private final Landing landing;
  private final StreamClock clock;
  private final StreamBodies.Stream bodies = new StreamBodies.Stream(ArrivingSlice::headBytes, this::arrives);
  /// Slices that arrived before a reader asked for them: those of the opening.
  private final Queue<LandedSlice> landedAhead = new ArrayDeque<>();
  private @Nullable Subscription in;
  /// Null until the server has decided.
  private @Nullable GetWindows windows;
  /// Whether the decision was passed on.
  private boolean told;
  private final AnswerLimit.Silence silence = new AnswerLimit.Silence();
  private boolean peerDone;
  private @Nullable Throwable peerFailure;

  /// @param decided receives the node's decision and the stream to read
  /// @param refused receives the error that came instead
  public GetReceiver(GetSetting setting, List<BlockKey> keys, BiConsumer<GetReceiver, Messages.Found> decided,
      Consumer<Throwable> refused) {
    this(setting, keys, Landing.inline(), StreamClock.NONE, decided, refused);
  }

  /// A receiver of slices that may come by another carrier.
  ///
  /// @param clock receives the end of the stream
  GetReceiver(GetSetting setting, List<BlockKey> keys, Landing landing, StreamClock clock,
      BiConsumer<GetReceiver, Messages.Found> decided, Consumer<Throwable> refused) {
    super(setting.startLayer());
    this.landing = landing;
    this.clock = clock;
    this.setting = setting;
    this.keys = keys;
    this.decided = decided;
    this.refused = refused;
    this.credit = new SliceCredit(Budget.of(setting.budget()), setting.maxSliceBytes(), serial, this::proceed);
    this.slots = new SlotsAhead(setting.arena(), scope, serial, this::proceed, this::fail);
  }

  @Override
  public Context currentContext() {
    return LateErrors.ignored();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    serial.run(() -> {
      in = subscription;
      if (done) { // cancelled before there was a subscription to cancel
        subscription.cancel();
      } else {
        setting.answers().enter(this);
        open(subscription);
      }
    });
  }

  @Override
  public void look() {
    serial.run(() -> {
      if (silence.isTooLong(isOwed(), 1)) {
        fail(setting.answers().exceeded(Routes.GET, setting.peer(), 1));
      }
    });
  }

  /// Whether the node owes the decision, or slices that it need not wait for, or its end.
  private boolean isOwed() {
    return !done && !peerDone && (windows == null
        || (credit.outstanding() > 0 && !(setting.onMiss() != OnMiss.SKIP && windows.mayAwait())));
  }

  /// Asks for the decision, and for the first slices with it if there is room for them now.
  private void open(Subscription subscription) {
    long spare = spareSlices();
    long slices = spare > 0 ? Math.min(spare, holdForOpening()) : 0;
    bodies.opening(() -> credit.open(subscription, slices));
    if (credit.outstanding() == 0) { // another stream was quicker
      slots.trim(0);
    }
  }

  /// Slices that may be requested together with the decision: half of the budget is for streams that ask as they read.
  private long spareSlices() {
    Permits budget = setting.budget();
    return (budget.capacity() / 2 - budget.inUse()) / setting.maxSliceBytes();
  }

  /// Holds slots for blocks of the first window before it is known which of them come. A whole window stays free in
  /// addition, because this stream may have no reader for long.
  ///
  /// @return slices that may come in any windows; 0 if the arena has no room
  private long holdForOpening() {
    int window = setting.windowBlocks();
    int most = setting.onMiss() == OnMiss.SKIP ? 2 * window : window;
    int held = Math.min(keys.size(), most);
    if (!slots.tryHold(held, window)) {
      held = Math.min(keys.size(), window);
      if (held == Math.min(keys.size(), most) || !slots.tryHold(held, window)) {
        return 0;
      }
    }
    return openingSlices(held);
  }

  /// If each block has a slot: all their slices, and one that lets the server report that it is done. Otherwise so few
  /// slices that each window which they open finds a window of slots, however small the windows before it are. A stream
  /// that may have to wait for blocks has one slice.
  private long openingSlices(int held) {
    if (setting.onMiss() != OnMiss.SKIP) {
      return 1;
    }
    long slices = held == keys.size()
        ? setting.slices(held) + 1
        : (held - setting.windowBlocks()) * setting.bytesOfBlock() / setting.maxSliceBytes() + 1;
    return Math.min(slices, setting.creditSlices());
  }

  static CancellationException leaseEnded() {
    return new CancellationException("lease ended before its stream");
  }

  @Override
  public void onNext(Payload payload) {
    serial.run(() -> {
      if (done) { // its charge was refunded when the stream stopped
        payload.release();
        return;
      }
      silence.heard();
      LandedSlice landed = credit.spend(payload, this::receive);
      if (landed != null) {
        landedAhead.add(landed);
        endIfLast();
      }
      proceed();
    });
  }

  /// Cancels the stream once no more slices can come. The cancel tells a server that still keeps blocks that they have
  /// landed, and saves a message.
  private void endIfLast() {
    if (!done && in != null && windows != null && windows.isLastOwed()) {
      credit.stop();
      peerDone = true;
      in.cancel();
    }
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      credit.stop();
      peerDone = true;
      peerFailure = setting.errors().apply(error);
      proceed();
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      credit.stop();
      peerDone = true;
      peerFailure = windows == null
          ? WireFormatException.request("get response", "a decision first", "empty")
          : windows.missing();
      proceed();
    });
  }

  @Override
  protected void proceed() {
    emit();
    if (done) {
      return;
    }
    if (peerDone && landedAhead.isEmpty() && (reader != null || windows == null)) {
      finish();
    } else if (windows != null && reader != null && !peerDone) {
      if (requested > 0) {
        windows.hold();
      }
      takeCredit(Math.min(windows.allowed(), Math.min(requested - landedAhead.size(), setting.creditSlices())));
    }
  }

  /// Asks in batches: fewer frames.
  private void takeCredit(long target) {
    if (credit.outstanding() == 0 || credit.outstanding() <= target / 2) {
      credit.raise(target);
    }
  }

  private @Nullable FrameBody arrives(ByteBuf head, int bytes) {
    return serial
        .tryGet(() -> done || windows == null || credit.outstanding() == 0 ? null : windows.arrives(head, bytes));
  }

  /// The decision, which comes first, or a slice.
  private @Nullable LandedSlice receive(ByteBuf data) {
    if (windows != null) {
      return windows.land(data);
    }
    Messages.Found found = setting.codec().decode(data, Messages.Found.class);
    windows = GetWindows.of(setting, keys, found, slots, landing);
    decided.accept(this, found);
    told = true;
    return null;
  }

  private void emit() {
    while (!done && reader != null && requested > 0 && !landedAhead.isEmpty()) {
      requested = Demand.minus(requested, 1);
      reader.onNext(landedAhead.remove());
    }
  }

  private void finish() {
    if (peerFailure != null) {
      fail(peerFailure);
      return;
    }
    done = true;
    letGo();
    if (reader != null) {
      reader.onComplete();
    }
  }

  @Override
  protected void fail(Throwable error) {
    if (done) {
      return;
    }
    done = true;
    failure = error;
    letGo();
    if (!told) {
      refused.accept(error);
    } else if (reader != null) {
      reader.onError(error);
    }
  }

  @Override
  protected void letGo() {
    clock.ended(failure instanceof CancellationException ? null : failure);
    if (in != null && !peerDone) {
      in.cancel();
    }
    setting.answers().leave(this);
    landedAhead.clear();
    credit.stop();
    slots.stop();
    bodies.close();
    scope.close();
  }
}
