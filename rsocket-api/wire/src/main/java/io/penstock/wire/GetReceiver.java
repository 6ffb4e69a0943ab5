package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.penstock.block.ArenaRoom;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.Permits;
import io.penstock.block.SliceOrder;
import io.penstock.block.SpaceId;
import io.rsocket.Payload;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/// The receiving end of one `get` stream. The first payload is the server's decision; slices follow once a reader asks for them.
///
/// Credit is granted only for slices that have a place to land: each is charged to the byte budget at the negotiated maximum before it
/// is asked for, and drafts are held beforehand, all or nothing a window. While every key that may still come has a slot, credit is
/// limited by demand and budget alone, as long as blocks come that the server has: a stream that only awaits blocks keeps one slice of
/// the budget from others. Otherwise it covers the rest of the current window, and one slice of the next if a whole window
/// is held for it and no block of the current one is still to begin. All state is touched by [#serial] steps only.
///
/// A server is not trusted: whatever it sends unasked, twice, for keys it did not promise, or not at all, is a typed error.
final class GetReceiver implements CoreSubscriber<Payload>, Subscription {
  /// What a stream is received with.
  record Setting(BlockArena arena, SpaceId space, Permits budget, int maxSliceBytes, int windowBlocks, int creditSlices, int startLayer,
      SliceOrder order, ControlCodec codec, UnaryOperator<Throwable> errors) {}

  /// One slice after landing: the drafts it went into, in slice order; those of a window are complete with its last slice.
  record Landed(SliceHeader header, List<BlockDraft> drafts) {}

  private final Setting setting;
  private final List<BlockKey> keys;
  private final Consumer<Messages.Found> decided;
  private final Consumer<Throwable> refused;
  private final Serial serial = new Serial(this::fail);
  private final BlockScope scope = new BlockScope();
  private final BitSet started = new BitSet();
  /// Positions whose blocks may come, and those of them that must.
  private BitSet coming = new BitSet();
  private BitSet promised = new BitSet();
  /// Drafts of the current window by position.
  private final Map<Integer, BlockDraft> window = new LinkedHashMap<>();
  private final List<ArenaRoom> rooms = new ArrayList<>(2);
  private @Nullable Subscription in;
  private @Nullable CoreSubscriber<? super Landed> reader;
  private Permits.@Nullable Ticket budgetTicket;
  private Permits.@Nullable Ticket holdTicket;
  private int expected = -1;
  private int currentWindow = -1;
  private int remaining;
  /// Granules of the first slice of the current window.
  private @Nullable GranuleRange firstRange;
  /// No further block of the current window can begin.
  private boolean settled;
  private boolean told;
  private int promisedLeft;
  private long outstanding;
  private long requested;
  private boolean peerDone;
  private @Nullable Throwable peerFailure;
  private @Nullable Throwable failure;
  private volatile boolean done;

  GetReceiver(Setting setting, List<BlockKey> keys, Consumer<Messages.Found> decided, Consumer<Throwable> refused) {
    this.setting = setting;
    this.keys = keys;
    this.decided = decided;
    this.refused = refused;
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    serial.run(() -> {
      in = subscription;
      if (done) { // cancelled before there was a subscription to cancel
        subscription.cancel();
      }
      takeCredit();
    });
  }

  int startLayer() {
    return setting.startLayer();
  }

  /// Attaches the one reader; its demand counts slices.
  void read(CoreSubscriber<? super Landed> subscriber) {
    serial.run(() -> {
      if (reader != null) {
        Operators.error(subscriber, new IllegalStateException("lease must be read once (was read before)"));
        return;
      }
      reader = subscriber;
      subscriber.onSubscribe(this);
      if (done) {
        subscriber.onError(failure == null ? leaseEnded() : failure);
      }
      proceed();
    });
  }

  @Override
  public void request(long n) {
    serial.run(() -> {
      if (n <= 0) {
        fail(new IllegalArgumentException("n must be > 0 (was " + n + "), Reactive Streams rule 3.9"));
      }
      requested = Operators.addCap(requested, n);
      proceed();
    });
  }

  @Override
  public void cancel() {
    done = true;
    serial.run(this::stop);
  }

  /// Ends the stream from outside: the reader, if any, hears that its lease ended.
  void end() {
    serial.run(() -> {
      if (!done) {
        fail(leaseEnded());
      }
    });
  }

  private static CancellationException leaseEnded() {
    return new CancellationException("lease ended before its stream");
  }

  @Override
  public void onNext(Payload payload) {
    serial.run(() -> {
      if (done) { // its charge was refunded when the stream stopped
        payload.release();
        return;
      }
      if (outstanding == 0) {
        payload.release();
        fail(WireFormatException.request("payloads", "<= the credit given", "one more"));
        return;
      }
      Landed landed = null;
      outstanding--;
      try {
        landed = receive(payload.sliceData());
      } catch (RuntimeException e) {
        fail(e);
      } finally {
        payload.release();
        setting.budget().release(setting.maxSliceBytes());
      }
      if (landed != null) {
        emit(landed);
      }
      proceed();
    });
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      peerDone = true;
      peerFailure = setting.errors().apply(error);
      proceed();
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      peerDone = true;
      peerFailure = missing();
      proceed();
    });
  }

  /// What the server still owed when it said that it was done.
  private @Nullable Throwable missing() {
    if (expected < 0) {
      return WireFormatException.request("get response", "a decision first", "empty");
    } else if (!window.isEmpty()) {
      return incomplete(window.keySet().iterator().next());
    }
    promised.andNot(started);
    return promised.isEmpty() ? null : incomplete(promised.nextSetBit(0));
  }

  private IncompleteBlockException incomplete(int position) {
    return new IncompleteBlockException(keys.get(position), 0, setting.arena().layout().granules());
  }

  private void proceed() {
    if (done) {
      return;
    }
    if (peerDone && (reader != null || expected < 0)) {
      finish();
    } else if (reader != null && !peerDone) {
      hold();
      takeCredit();
    }
  }

  private @Nullable Landed receive(ByteBuf data) {
    if (expected >= 0) {
      return land(data);
    }
    Messages.Found found = setting.codec().decode(data, Messages.Found.class);
    found.requireOf(keys.size());
    promised = found.found().presence().bits();
    promisedLeft = promised.cardinality();
    coming = found.coming();
    expected = coming.cardinality();
    decided.accept(found);
    told = true;
    return null;
  }

  private Landed land(ByteBuf data) {
    SliceHeader header =
        SliceHeader.decode(data, setting.space(), setting.arena().layout(), setting.maxSliceBytes(), keys.size());
    header.requireKeys(keys);
    follow(header);
    List<BlockDraft> drafts = new ArrayList<>(header.positions().length);
    for (int i = 0; i < header.positions().length; i++) {
      BlockDraft draft = draft(header.positions()[i]);
      Landing.land(data, header, i, draft);
      drafts.add(draft);
    }
    if (header.endsWindow()) {
      for (BlockDraft draft : window.values()) {
        Landing.requireComplete(draft, setting.startLayer());
      }
      window.clear();
    }
    return new Landed(header, drafts);
  }

  private void follow(SliceHeader header) {
    boolean opens = window.isEmpty();
    int number = header.place().window();
    if (number != (opens ? currentWindow + 1 : currentWindow)) {
      throw WireFormatException.slice("window", "" + (opens ? currentWindow + 1 : currentWindow), number);
    }
    if (!opens && header.place().remaining() != remaining - 1) {
      throw WireFormatException.slice("remaining", "" + (remaining - 1), header.place().remaining());
    }
    int firstGranule = setting.startLayer() * setting.arena().layout().planes().size();
    if (header.range().first() < firstGranule) {
      throw WireFormatException.slice("first layer", ">= " + setting.startLayer(), header.range());
    }
    currentWindow = number;
    remaining = header.place().remaining();
    if (opens) {
      firstRange = header.range();
      settled = false;
    } else if (setting.order() == SliceOrder.LAYER_FIRST && !header.range().equals(firstRange)) {
      settled = true; // every block has begun before the next layers come
    }
  }

  private BlockDraft draft(int position) {
    BlockDraft known = window.get(position);
    if (known != null) {
      return known;
    }
    if (started.get(position) || !coming.get(position)) {
      throw WireFormatException.slice("position", "of a block that is leased and was not sent before", position);
    }
    ArenaRoom room = rooms.isEmpty() ? null : rooms.getFirst();
    if (room == null) {
      throw WireFormatException.slice("blocks of a window", "<= " + setting.windowBlocks(), window.size() + 1);
    }
    BlockDraft draft = scope.adopt(room.draft(keys.get(position)));
    if (room.left() == 0) {
      rooms.removeFirst().close();
    }
    started.set(position);
    promisedLeft -= promised.get(position) ? 1 : 0;
    window.put(position, draft);
    return draft;
  }

  private void emit(Landed landed) {
    if (!done && reader != null) {
      if (requested != Long.MAX_VALUE) {
        requested--;
      }
      reader.onNext(landed);
    }
  }

  private int held() {
    int held = 0;
    for (ArenaRoom room : rooms) {
      held += room.left();
    }
    return held;
  }

  /// Keeps one window of slots ahead, as far as keys may still come. Who waits in line holds nothing of the next window: two streams that
  /// each held a part and waited for the rest would wait for ever.
  private void hold() {
    int full = Math.min(setting.windowBlocks(), expected - started.cardinality());
    int wanted = full - held();
    if (wanted <= 0 || holdTicket != null || requested == 0 || !mayHoldNext()) {
      return;
    }
    ArenaRoom room = setting.arena().tryHold(wanted);
    if (room != null) {
      rooms.add(scope.adopt(room));
    } else if (window.isEmpty()) { // else asked for again when the window ends, at the latest
      rooms.forEach(ArenaRoom::close);
      rooms.clear();
      holdTicket = setting.arena().hold(full, granted -> serial.run(() -> held(granted)), error -> serial.run(() -> fail(error)));
    }
  }

  /// What is held is for the current window as long as blocks of it may begin.
  private boolean mayHoldNext() {
    return window.isEmpty() || settled;
  }

  private void held(ArenaRoom room) {
    holdTicket = null;
    if (done) {
      room.close();
    } else {
      rooms.add(scope.adopt(room));
      proceed();
    }
  }

  /// Slices that may be on their way, given where they could land.
  private long allowed() {
    if (expected < 0) {
      return 1;
    }
    int left = expected - started.cardinality();
    int held = held();
    if (held >= left) {
      return promisedLeft > 0 ? Long.MAX_VALUE : (window.isEmpty() ? 0L : remaining) + 1; // one more lets a server say that it is done
    }
    return (window.isEmpty() ? 0L : remaining) + (mayHoldNext() && held >= setting.windowBlocks() ? 1 : 0);
  }

  private void takeCredit() {
    if (done || budgetTicket != null) {
      return;
    }
    long demand = expected < 0 ? 1 : Math.min(requested, setting.creditSlices());
    long target = Math.min(allowed(), demand);
    if (outstanding > 0 && outstanding > target / 2) {
      return; // asks in batches: fewer frames
    }
    int granted = 0;
    while (outstanding + granted < target && setting.budget().tryAcquire(setting.maxSliceBytes())) {
      granted++;
    }
    if (granted > 0) {
      credit(granted);
    } else if (outstanding == 0 && target > 0) {
      budgetTicket = setting.budget().acquire(setting.maxSliceBytes(), () -> serial.run(this::granted));
    }
  }

  private void granted() {
    budgetTicket = null;
    if (done) {
      setting.budget().release(setting.maxSliceBytes());
    } else {
      credit(1);
      proceed();
    }
  }

  private void credit(int slices) {
    outstanding += slices;
    if (in != null) {
      in.request(slices);
    }
  }

  private void finish() {
    if (peerFailure != null) {
      fail(peerFailure);
      return;
    }
    done = true;
    stop();
    if (reader != null) {
      reader.onComplete();
    }
  }

  private void fail(Throwable error) {
    if (done) {
      return;
    }
    done = true;
    failure = error;
    stop();
    if (!told) {
      refused.accept(error);
    } else if (reader != null) {
      reader.onError(error);
    }
  }

  private void stop() {
    if (in != null && !peerDone) {
      in.cancel();
    }
    if (budgetTicket != null && budgetTicket.cancel()) {
      budgetTicket = null;
    }
    if (holdTicket != null && holdTicket.cancel()) {
      holdTicket = null;
    }
    if (outstanding > 0) {
      setting.budget().release(outstanding * setting.maxSliceBytes());
      outstanding = 0;
    }
    rooms.clear();
    window.clear();
    scope.close();
  }
}
