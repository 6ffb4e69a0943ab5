package io.penstock.wire.rank;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.operator.Demand;
import io.penstock.tier.OnMiss;
import io.penstock.tier.slice.DraftWindow;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.tier.spi.ViewLanding.Landed;
import io.penstock.wire.client.link.AnswerLimit;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.SerialSubscription;
import io.penstock.wire.credit.SliceCredit;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.LateErrors;
import io.penstock.wire.slice.SliceHeader;
import io.rsocket.Payload;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.util.context.Context;

/// The receiving end of one `get` of a view. The drafts in which it lands are claimed already, so credit is limited by
/// the reader and the byte budget alone. A stream that awaits blocks asks for one slice before the first came, and for
/// two at a time then: it may wait long, and others need the budget meanwhile. All state is touched by [#serial] steps
/// only.
///
/// A server is not trusted: what it sends unasked, twice, or not at all, is a typed error.
final class ViewReceiver extends SerialSubscription implements CoreSubscriber<Payload>, AnswerLimit.Pending {
  private static final int AWAITED_SLICES = 2;

  /// Settings for views of one connection.
  ///
  /// @param space of the node
  /// @param answers limits how long the node may owe an answer
  /// @param peer the node, as errors name it
  /// @param errors turns errors of the connection into errors for the reader
  record Setting(CacheSpace space, Budget budget, int maxSliceBytes, int creditSlices, AnswerLimit answers,
      String peer, UnaryOperator<Throwable> errors) {}

  private final CoreSubscriber<? super Landed> reader;
  private final Setting setting;
  private final List<BlockKey> keys;
  private final ViewLanding landing;
  private final SliceCredit credit;
  private final AnswerLimit.Silence silence = new AnswerLimit.Silence();
  private final boolean awaits;
  private @Nullable Subscription in;
  /// Positions of the keys whose blocks may come; null until the server has decided.
  private @Nullable BitSet coming;
  private DraftWindow window = new DraftWindow(0);

  ViewReceiver(CoreSubscriber<? super Landed> reader, Setting setting, List<BlockKey> keys, OnMiss onMiss,
      ViewLanding landing) {
    this.reader = reader;
    this.setting = setting;
    this.keys = keys;
    this.landing = landing;
    this.awaits = onMiss != OnMiss.SKIP;
    this.credit = new SliceCredit(setting.budget(), setting.maxSliceBytes(), serial, this::proceed);
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
        credit.open(subscription, Math.min(requested, awaits ? 1 : setting.creditSlices()));
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

  /// Whether the node owes the decision, or slices of blocks that it has.
  private boolean isOwed() {
    return !done && (coming == null || (credit.outstanding() > 0 && !awaits));
  }

  @Override
  public void onNext(Payload payload) {
    serial.run(() -> {
      if (done) { // its charge was refunded when the stream stopped
        payload.release();
        return;
      }
      silence.heard();
      Landed landed = credit.spend(payload, this::receive);
      if (landed != null) {
        requested = Demand.minus(requested, 1);
        reader.onNext(landed);
      }
      proceed();
    });
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      in = null;
      fail(setting.errors().apply(error));
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      in = null;
      for (int i = 0; i < keys.size(); i++) {
        landing.requireComplete(i, keys.get(i));
      }
      if (!done) {
        done = true;
        letGo();
        reader.onComplete();
      }
    });
  }

  @Override
  protected RuntimeException misrequest(long n) {
    return Demand.refusal(n);
  }

  /// Asks for the rest of the window and one slice more, which lets a server say that it is done.
  @Override
  protected void proceed() {
    if (!done && in != null && coming != null) {
      long target = Math.min(requested, ahead());
      if (credit.outstanding() == 0 || credit.outstanding() <= target / 2) { // in batches: fewer frames
        credit.raise(target);
      }
    }
  }

  private long ahead() {
    if (awaits) {
      return window.hasBegun() || window.number() > 0 ? AWAITED_SLICES : 1;
    }
    return Math.min(setting.creditSlices(), window.remaining() + 1L);
  }

  /// Receives the decision, which comes first, or a slice.
  private @Nullable Landed receive(ByteBuf data) {
    if (coming == null) {
      Messages.Found found = NodeConnection.CODEC.decode(data, Messages.Found.class);
      found.requireOf(keys.size());
      coming = found.coming();
      return null;
    }
    SliceHeader header = SliceHeader.decode(data, setting.space().id(), setting.space().layout(), landing.view(),
        setting.maxSliceBytes(), keys.size());
    header.requireKeys(keys);
    try {
      follow(header.place());
      return land(data, header, coming);
    } catch (UnexpectedSliceException e) {
      throw WireFormatException.slice(e);
    }
  }

  private void follow(LayerSlice.Position place) {
    if (window.isOver()) {
      window = new DraftWindow(window.number() + 1);
    }
    window.follow(place);
  }

  private Landed land(ByteBuf data, SliceHeader header, BitSet promised) {
    int blocks = header.positions().length;
    MemorySegment bytes =
        memory(data.slice(data.readerIndex() + header.bytes(), data.readableBytes() - header.bytes()));
    long each = bytes.byteSize() / blocks;
    for (int i = 0; i < blocks; i++) {
      int position = header.positions()[i];
      if (!promised.get(position)) {
        throw WireFormatException.slice("position", "of a block that is leased", position);
      }
      landing.land(position, keys.get(position), header.requireView(), header.checksums()[i],
          bytes.asSlice(i * each, each), "wire");
    }
    return new Landed(header.requireView(), blocks, (int) bytes.byteSize());
  }

  /// The bytes of a frame, which no other process sees; copied only if they do not lie together.
  private static MemorySegment memory(ByteBuf bytes) {
    if (bytes.nioBufferCount() == 1) {
      return MemorySegment.ofBuffer(bytes.nioBuffer());
    }
    byte[] copy = new byte[bytes.readableBytes()];
    bytes.readBytes(copy);
    return MemorySegment.ofArray(copy);
  }

  @Override
  protected void fail(Throwable error) {
    if (!done) {
      done = true;
      letGo();
      reader.onError(error);
    }
  }

  @Override
  protected void letGo() {
    if (in != null) {
      in.cancel();
      in = null;
    }
    setting.answers().leave(this);
    credit.stop();
  }
}
