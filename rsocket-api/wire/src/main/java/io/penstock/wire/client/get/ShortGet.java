package io.penstock.wire.client.get;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.operator.Demand;
import io.penstock.tier.Presence;
import io.penstock.wire.client.link.AnswerLimit;
import io.penstock.wire.credit.SerialSubscription;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.slice.ArrivingSlice;
import io.penstock.wire.slice.LandedSlice;
import io.penstock.wire.slice.Landing;
import io.penstock.wire.transport.frame.FrameBody;
import io.penstock.wire.transport.frame.StreamBodies;
import io.rsocket.Payload;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/// A `get` whose blocks fit in one slice, which is its only answer: the blocks have landed when the lease is there, and
/// wait here for their reader. It is for blocks that the arena and the budget have room for now; the credit of a
/// [GetReceiver] serves all others.
///
/// A node is not trusted: a slice that is not the only one, or has other blocks than those asked for, is a typed error.
/// All state is touched by [#serial] steps only.
final class ShortGet extends SerialSubscription
    implements
      CoreSubscriber<Payload>,
      AnswerLimit.Pending,
      LandedStream {
  private final GetSetting setting;
  private final int keys;
  private final StreamClock clock;
  private final BiConsumer<ShortGet, Presence> decided;
  private final Consumer<Throwable> refused;
  private final BlockScope scope = new BlockScope();
  private final SlotsAhead slots;
  private final GetWindows windows;
  private final StreamBodies.Stream bodies = new StreamBodies.Stream(ArrivingSlice::headBytes, this::arrives);
  private final AnswerLimit.Silence silence = new AnswerLimit.Silence();
  private @Nullable Subscription in;
  private @Nullable CoreSubscriber<? super LandedSlice> reader;
  /// Bytes of the budget that the answer may take; 0 once it has come.
  private long charged;
  /// Whether the node owes nothing any more.
  private boolean answered;
  /// Whether the lease was passed on.
  private boolean told;
  private @Nullable LandedSlice landed;
  private @Nullable Throwable failure;

  /// @param clock receives the end of the request, unless it is refused: the blocks may then come in another way
  /// @param decided receives the positions of the blocks that have come
  /// @param refused receives the error that came instead
  ShortGet(GetSetting setting, List<BlockKey> keys, Landing landing, StreamClock clock,
      BiConsumer<ShortGet, Presence> decided, Consumer<Throwable> refused) {
    this.setting = setting;
    this.keys = keys.size();
    this.clock = clock;
    this.decided = decided;
    this.refused = refused;
    this.slots = new SlotsAhead(setting.arena(), scope, serial, this::proceed, this::fail);
    this.windows = GetWindows.ofAny(setting, keys, slots, landing);
  }

  /// Whether the blocks of `keys` fit in one slice, and in one window.
  static boolean fits(GetSetting setting, List<BlockKey> keys) {
    return !keys.isEmpty() && keys.size() <= setting.windowBlocks()
        && keys.size() * setting.bytesOfBlock() <= setting.maxSliceBytes();
  }

  /// Takes slots and bytes for all blocks; false, with nothing taken, if there is no room for them now. As for the
  /// opening of a stream, half of the budget and a window of slots stay free: they are for streams that ask as they
  /// read.
  boolean hold() {
    long bytes = keys * setting.bytesOfBlock();
    if (setting.budget().inUse() + bytes > setting.budget().capacity() / 2
        || !slots.tryHold(keys, setting.windowBlocks())) {
      return false;
    }
    if (!setting.budget().tryAcquire(bytes)) {
      slots.trim(0);
      return false;
    }
    charged = bytes;
    return true;
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    serial.run(() -> {
      in = subscription;
      if (done) { // cancelled before there was a subscription to cancel
        subscription.cancel();
      } else {
        setting.answers().enter(this);
        bodies.opening(() -> subscription.request(1));
      }
    });
  }

  @Override
  public void look() {
    serial.run(() -> {
      if (silence.isTooLong(!done && !answered, 1)) {
        fail(setting.answers().exceeded(Routes.GET, setting.peer(), 1));
      }
    });
  }

  private @Nullable FrameBody arrives(ByteBuf head, int bytes) {
    return serial.tryGet(() -> done || answered ? null : windows.arrives(head, bytes));
  }

  @Override
  public void onNext(Payload payload) {
    serial.run(() -> {
      try {
        if (!done && !answered) {
          land(payload.sliceData());
        }
      } finally {
        payload.release();
      }
    });
  }

  private void land(ByteBuf data) {
    if (data.isReadable()) {
      landed = windows.land(data);
    }
    IncompleteBlockException missing = windows.missing();
    if (missing != null) { // more slices would have to follow
      throw missing;
    }
    answered();
    slots.trim(0);
    told = true;
    decided.accept(this, Presence.of(keys, windows.started()));
    proceed();
  }

  /// The node owes nothing more, and nothing more may come.
  private void answered() {
    answered = true;
    setting.answers().leave(this);
    bodies.close();
    refund();
  }

  private void refund() {
    if (charged > 0) {
      setting.budget().release(charged);
      charged = 0;
    }
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      if (!answered) {
        answered();
        fail(setting.errors().apply(error));
      }
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      if (!answered && !done) {
        answered();
        fail(WireFormatException.request("get response", "one payload", "none"));
      }
    });
  }

  @Override
  public int startLayer() {
    return setting.startLayer();
  }

  @Override
  public void read(CoreSubscriber<? super LandedSlice> subscriber) {
    serial.run(() -> {
      if (reader != null) {
        Operators.error(subscriber, new IllegalStateException("lease must be read once (was read before)"));
        return;
      }
      reader = subscriber;
      subscriber.onSubscribe(this);
      if (done) {
        subscriber.onError(failure == null ? GetReceiver.leaseEnded() : failure);
      }
      proceed();
    });
  }

  @Override
  public void end() {
    serial.run(() -> {
      if (!done) {
        fail(GetReceiver.leaseEnded());
      }
    });
  }

  @Override
  protected RuntimeException misrequest(long n) {
    return Demand.refusal(n);
  }

  @Override
  protected void proceed() {
    CoreSubscriber<? super LandedSlice> to = reader;
    LandedSlice slice = landed;
    if (done || !answered || to == null) {
      return;
    }
    if (slice != null && requested > 0) {
      requested = Demand.minus(requested, 1);
      landed = null;
      to.onNext(slice);
    }
    if (landed == null && !done) {
      done = true;
      letGo();
      to.onComplete();
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
    if (told || failure == null) {
      clock.ended(failure instanceof CancellationException ? null : failure);
    }
    if (in != null && !answered) {
      in.cancel();
    }
    if (!answered) {
      answered();
    }
    landed = null;
    slots.stop();
    scope.close();
  }
}
