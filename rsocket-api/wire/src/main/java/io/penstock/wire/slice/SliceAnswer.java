package io.penstock.wire.slice;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SliceShape;
import io.penstock.carrier.UnlandedSlices;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.SerialSubscription;
import io.penstock.wire.credit.SilenceLimit;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Messages.GetRequest;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.StreamClock;
import io.rsocket.Payload;
import io.rsocket.util.EmptyPayload;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/// Answers a request with the blocks of a lease, all of them in one slice, or with an empty payload if none was found.
/// One object replaces a chain of operators.
///
/// The rules of [SliceGate] hold: the slice waits until the connection's send window has room for its bytes, a peer
/// that takes nothing from its socket ends the request, and all state is touched by [#serial] steps only.
public final class SliceAnswer extends SerialSubscription {
  /// The bytes are in the frame: nothing is kept until they have landed.
  private static final UnlandedSlices NONE = new UnlandedSlices(() -> {});

  private static final LayerSlice.Position ONLY = new LayerSlice.Position(0, 0);

  private final CoreSubscriber<? super Payload> actual;
  private final Question question;
  private final SliceFraming framing;
  private final InFlight inFlight;
  private final SilenceLimit.Rule rule;
  private final StreamClock clock;
  private final BlockScope scope;
  /// The lease, its window or its slice, whichever is awaited.
  private @Nullable Subscription source;
  private boolean asked;
  private int found;
  /// A slice whose bytes wait for room.
  private @Nullable LayerSlice waiting;
  private Budget.@Nullable Place place;
  private @Nullable SilenceLimit stall;

  /// The blocks that are asked for.
  ///
  /// @param keys number of keys
  /// @param atOnce gives them if they are all in memory; null if they must be leased
  /// @param lease of the blocks; the scope owns it
  /// @param isUnverified whether blocks in memory come without a comparison
  public record Question(int keys, Supplier<@Nullable List<LeasedBlock>> atOnce,
      Function<BlockScope, Mono<Lease>> lease,
      SliceShape shape, boolean isUnverified) {}

  private SliceAnswer(CoreSubscriber<? super Payload> actual, Question question, SliceFraming framing,
      InFlight inFlight, SilenceLimit.Rule rule, StreamClock clock) {
    this.actual = actual;
    this.question = question;
    this.framing = framing;
    this.inFlight = inFlight;
    this.rule = rule;
    this.clock = clock;
    this.scope = inFlight.openScope();
  }

  /// @param inFlight receives the slice and its release, and the end of the request
  /// @param rule ends the request when its reader takes nothing for as long
  /// @param clock receives the waits of the request, and its end
  public static Flux<Payload> of(Question question, SliceFraming framing, InFlight inFlight, SilenceLimit.Rule rule,
      StreamClock clock) {
    return Flux.from(subscriber -> {
      CoreSubscriber<? super Payload> actual = Operators.toCoreSubscriber(subscriber);
      actual.onSubscribe(new SliceAnswer(actual, question, framing, inFlight, rule, clock));
    });
  }

  @Override
  protected void proceed() {
    if (!done && !asked) {
      asked = true;
      if (!answersAtOnce()) {
        clock.waits(StreamClock.Wait.TIER);
        question.lease().apply(scope).subscribe(new Source<>(this::leased));
      }
    }
  }

  /// Answers with blocks in memory, if there is room for all of them now: blocks that wait for room are those of a
  /// lease, which holds no more than the tier lets it.
  private boolean answersAtOnce() {
    long most = question.keys() * bytesOfBlock();
    if (most == 0 || question.keys() > question.shape().windowBlocks() || most > question.shape().sliceBytes()
        || !framing.sendWindow().tryAcquire(most)) {
      return false;
    }
    long free = most;
    try {
      List<LeasedBlock> blocks = question.atOnce().get();
      if (blocks == null) {
        return false;
      }
      try {
        if (blocks.isEmpty()) {
          emit(EmptyPayload.INSTANCE);
        } else {
          LayerSlice slice = slice(blocks);
          waiting = slice;
          free -= slice.bytes();
          send(slice.bytes());
        }
      } finally {
        blocks.forEach(leased -> leased.block().close());
      }
      return true;
    } finally {
      if (free > 0) {
        framing.sendWindow().release(free);
      }
    }
  }

  private LayerSlice slice(List<LeasedBlock> blocks) {
    BlockLayout layout = framing.layout();
    GranuleRange range = GranuleRange.layers(layout, question.shape().startLayer(), layout.layers());
    int[] positions = new int[blocks.size()];
    List<LayerSpan> spans = new ArrayList<>(blocks.size());
    try {
      for (int i = 0; i < positions.length; i++) {
        positions[i] = blocks.get(i).position();
        spans.add(blocks.get(i).block().span(range));
      }
      return new LayerSlice(ONLY, range, positions, spans);
    } catch (RuntimeException | Error e) {
      spans.forEach(LayerSpan::close);
      throw e;
    }
  }

  private void leased(Lease lease) {
    if (done) { // the scope has closed it
      return;
    }
    found = lease.found().count();
    requireShort(found);
    if (found == 0) {
      emit(EmptyPayload.INSTANCE);
      return;
    }
    Lease read = question.isUnverified() ? lease.unverified() : lease;
    read.slicedWindows(question.shape(), scope).subscribe(new Source<>(this::windowed));
  }

  private void requireShort(int blocks) {
    requireMost("blocks", blocks, question.shape().windowBlocks());
    requireMost("bytes of blocks", blocks * bytesOfBlock(), question.shape().sliceBytes());
  }

  /// Bytes that are sent of each block.
  private long bytesOfBlock() {
    BlockLayout layout = framing.layout();
    return (long) layout.layerBytes() * (layout.layers() - question.shape().startLayer());
  }

  private static void requireMost(String what, long value, int most) {
    if (value > most) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, what + " " + GetRequest.ONE_ANSWER, "<= " + most, value);
    }
  }

  private void windowed(LeasedWindow window) {
    if (done) {
      return;
    }
    requireMost("blocks", found, window.size());
    window.slices(0).subscribe(new Source<>(this::arrived));
  }

  private void arrived(LayerSlice slice) {
    if (done) {
      slice.close();
      return;
    }
    waiting = slice;
    int bytes = slice.bytes();
    if (slice.place().remaining() > 0) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "slices " + GetRequest.ONE_ANSWER, "1",
          1 + slice.place().remaining());
    }
    if (framing.sendWindow().tryAcquire(bytes)) {
      send(bytes);
      return;
    }
    Budget.Place queued =
        framing.sendWindow().acquire(bytes, () -> serial.run(() -> send(bytes)), e -> serial.run(() -> fail(e)));
    place = queued;
    queued.onHolderChange(() -> serial.run(this::watch));
    watch();
  }

  /// Watches the wait for room, which a peer that takes nothing from its socket makes long.
  private void watch() {
    Budget.Place queued = place;
    if (done || queued == null) {
      return;
    }
    clock.waits(queued.holder().culprit());
    if (stall == null) {
      long before = framing.sendWindow().returned();
      stall = new SilenceLimit("slices to be taken", rule, serial, () -> !done && place != null,
          () -> framing.sendWindow().returned() - before);
    }
    stall.watch();
  }

  /// Sends the slice that waits; room for its bytes was taken.
  private void send(int bytes) {
    LayerSlice slice = waiting;
    place = null;
    waiting = null;
    if (slice == null || done) { // cancelled between its arrival and now
      framing.sendWindow().release(bytes);
      if (slice != null) {
        slice.close();
      }
      return;
    }
    Payload payload;
    try (slice) {
      payload = framing.encode(slice, NONE, inFlight.enter(() -> framing.sendWindow().release(bytes)));
    }
    emit(payload);
  }

  private void emit(Payload payload) {
    done = true;
    try {
      actual.onNext(payload);
      free();
      actual.onComplete();
    } finally { // after the last frame: a node that drains closes its connections when the last stream is over
      inFlight.over();
    }
  }

  @Override
  protected void fail(Throwable error) {
    if (!done) {
      done = true;
      clock.ended(error);
      try {
        free();
      } finally {
        actual.onError(error);
        inFlight.over();
      }
    }
  }

  @Override
  protected void letGo() {
    try {
      free();
    } finally {
      inFlight.over();
    }
  }

  private void free() {
    clock.ended(null);
    if (stall != null) {
      stall.stop();
    }
    if (source != null) {
      source.cancel();
    }
    if (place != null && place.cancel()) {
      place = null;
    }
    if (waiting != null) {
      waiting.close();
      waiting = null;
    }
    scope.close();
  }

  /// Gives one element to the next step.
  private final class Source<T> implements CoreSubscriber<T> {
    private final Consumer<T> next;
    private boolean gave;

    Source(Consumer<T> next) {
      this.next = next;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      serial.run(() -> {
        source = subscription;
        if (done) {
          subscription.cancel();
        } else {
          subscription.request(1);
        }
      });
    }

    @Override
    public void onNext(T element) {
      gave = true;
      serial.run(() -> next.accept(element));
    }

    @Override
    public void onError(Throwable error) {
      serial.run(() -> fail(error));
    }

    @Override
    public void onComplete() {
      if (!gave) {
        serial.run(() -> fail(new IllegalStateException("a lease must give the blocks that it found (gave none)")));
      }
    }
  }
}
