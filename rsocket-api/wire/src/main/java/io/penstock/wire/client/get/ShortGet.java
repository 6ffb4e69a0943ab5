package io.penstock.wire.client.get;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.operator.Serial;
import io.penstock.tier.Presence;
import io.penstock.wire.client.link.AnswerLimit;
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
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.util.context.Context;

/// A `get` whose blocks fit in one slice, which is its only answer: they have landed when its reader hears of them. It
/// is for blocks that the arena and the budget have room for now; the credit of a [GetReceiver] serves all others.
///
/// A node is not trusted: a slice that is not the only one, or has other blocks than those asked for, is a typed error.
/// From [#onSubscribe] on, all state is touched by steps of [#serial] only.
final class ShortGet implements CoreSubscriber<Payload>, AnswerLimit.Pending, Disposable {
  private final GetSetting setting;
  private final int keys;
  private final StreamClock clock;
  private final BiConsumer<LandedBlocks, Presence> landed;
  private final Consumer<Throwable> refused;
  private final Serial serial = new Serial(this::fail);
  private final BlockScope scope = new BlockScope();
  private final SlotsAhead slots;
  private final GetWindows windows;
  private final StreamBodies.Stream bodies = new StreamBodies.Stream(ArrivingSlice::headBytes, this::arrives);
  private final AnswerLimit.Silence silence = new AnswerLimit.Silence();
  private @Nullable Subscription in;
  /// Bytes of the budget that the answer may take.
  private long charged;
  private volatile boolean done;

  /// @param clock receives the end of a get that is disposed; of others who reads the blocks, or gets the error
  /// @param landed receives the blocks, and their positions
  /// @param refused receives the error that came instead: the blocks may still come in another way
  ShortGet(GetSetting setting, List<BlockKey> keys, Landing landing, StreamClock clock,
      BiConsumer<LandedBlocks, Presence> landed, Consumer<Throwable> refused) {
    this.setting = setting;
    this.keys = keys.size();
    this.clock = clock;
    this.landed = landed;
    this.refused = refused;
    this.slots = new SlotsAhead(setting.arena(), scope, serial, () -> {}, this::fail);
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
  public Context currentContext() {
    return LateErrors.ignored();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    serial.run(() -> {
      in = subscription;
      if (done) { // disposed before there was a subscription to cancel
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
      if (silence.isTooLong(!done, 1)) {
        fail(setting.answers().exceeded(Routes.GET, setting.peer(), 1));
      }
    });
  }

  private @Nullable FrameBody arrives(ByteBuf head, int bytes) {
    return serial.tryGet(() -> done ? null : windows.arrives(head, bytes));
  }

  @Override
  public void onNext(Payload payload) {
    serial.run(() -> {
      try {
        if (!done) {
          land(payload.sliceData());
        }
      } finally {
        payload.release();
      }
    });
  }

  private void land(ByteBuf data) {
    LandedSlice slice = data.isReadable() ? windows.land(data) : null;
    IncompleteBlockException missing = windows.missing();
    if (missing != null) { // more slices would have to follow
      throw missing;
    }
    done = true;
    slots.trim(0);
    letGo();
    landed.accept(new LandedBlocks(setting.startLayer(), scope, clock, slice), Presence.of(keys, windows.started()));
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> end(setting.errors().apply(error)));
  }

  @Override
  public void onComplete() {
    if (!done) {
      serial.run(() -> end(WireFormatException.request("get response", "one payload", "none")));
    }
  }

  /// The node has ended the request.
  private void end(Throwable error) {
    in = null;
    fail(error);
  }

  private void fail(Throwable error) {
    if (!done) {
      done = true;
      stop();
      refused.accept(error);
    }
  }

  @Override
  public void dispose() {
    serial.run(() -> {
      if (!done) {
        done = true;
        clock.ended(null);
        stop();
      }
    });
  }

  private void stop() {
    if (in != null) {
      in.cancel();
    }
    letGo();
    scope.close();
  }

  private void letGo() {
    setting.answers().leave(this);
    bodies.close();
    slots.stop();
    setting.budget().release(charged);
  }
}
