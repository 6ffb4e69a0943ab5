package io.penstock.wire.client.put;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.operator.Demand;
import io.penstock.operator.Failures;
import io.penstock.stage.SplitLayers;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.wire.client.link.AnswerLimit;
import io.penstock.wire.client.link.AnsweredStream;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.slice.InFlight;
import io.penstock.wire.slice.SliceFraming;
import io.penstock.wire.slice.SliceGate;
import io.penstock.wire.trace.TraceContext;
import io.rsocket.Payload;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.util.concurrent.Queues;

/// The sending end of one `put` channel: the node says for which window it has room, the source is asked for that
/// window, and receipts come back.
///
/// Windows come one after the other and cover the keys in order, each once, and the channel ends when the slices of all
/// were taken; a node that does otherwise is a typed error. Signals of the node, and looks at
/// its silence, come one at a time ([AnsweredStream]); nothing else touches the state but the counts.
final class PutSender {
  /// Windows for which a server may have made room before their slices were taken.
  private static final int ROOMS_AHEAD = 64;

  private final PutSource source;
  private final List<BlockKey> keys;
  private final PutMessages.PutRequest open;
  private final AtomicBoolean begun;
  private final Sinks.Many<PutSource.Window> rooms =
      Sinks.many().unicast().onBackpressureBuffer(Queues.<PutSource.Window>get(ROOMS_AHEAD).get());
  private int nextWindow;
  private int nextKey;
  /// Windows with keys that are wanted.
  private int offered;
  /// Blocks that the node found damaged.
  private final List<BlockKey> damaged = new ArrayList<>();
  private final AtomicInteger taken = new AtomicInteger();
  private final InFlight inFlight = new InFlight();
  /// Payloads that the node requested, and the number of them that were sent.
  private final AtomicLong credit = new AtomicLong();
  private final AtomicLong sent = new AtomicLong();
  private volatile @Nullable ReceiptStream receipts;

  /// @param open the message that opens the channel, for `keys`
  /// @param begun set when the node has said anything but a refusal
  PutSender(PutSource source, List<BlockKey> keys, PutMessages.PutRequest open, AtomicBoolean begun) {
    this.begun = begun;
    this.source = source;
    this.keys = keys;
    this.open = open;
  }

  /// Opens the channel, once.
  ///
  /// @param trace that continues at the node; null for none
  Flux<Receipt> over(NodeConnection connection, SliceFraming framing, @Nullable TraceContext trace) {
    Flux<Payload> up = Flux.using(BlockScope::new,
        scope -> rooms.asFlux().transform(SplitLayers.by(this::slices, scope))
            .transform(slices -> SliceGate.of(slices, framing, () -> NodeConnection.request(Routes.PUT, open, trace),
                inFlight, null, StreamClock.NONE)),
        BlockScope::close, false);
    Flux<Payload> counted = SentSlices.of(up, new SentSlices.Told(n -> credit.accumulateAndGet(n, Demand::plus),
        sent::incrementAndGet, this::stop));
    Flux<List<Receipt>> answers = AnsweredStream.of(connection.rsocket().requestChannel(counted),
        new AnsweredStream.Setting<>(connection, Routes.PUT, this::signalled, this::owedLimits,
            () -> credit.get() + sent.get() + framing.sendWindow().returned()));
    return Flux.from(subscriber -> {
      ReceiptStream stream = new ReceiptStream(Operators.toCoreSubscriber(subscriber), this::end, error -> {
        rooms.tryEmitError(error); // or what the node did not take would keep the channel open on this side
        return connection.failure(error);
      });
      receipts = stream;
      answers.subscribe(stream);
    });
  }

  private void end() {
    requireWhole();
    rooms.tryEmitComplete();
  }

  /// Ends the put with an error of this side as it is, and cancels the channel.
  private void stop(Throwable error) {
    ReceiptStream stream = receipts;
    if (stream != null) {
      stream.end(Failures.passable(error));
    }
  }

  /// Number of limits after which silence of the node is too long; 0 while it is the source's turn.
  private int owedLimits() {
    if (taken.get() < offered) {
      return credit.get() > sent.get() ? 0 : 1;
    }
    return nextKey < keys.size() ? AnswerLimit.ROOM : 1;
  }

  private void requireWhole() {
    if (nextKey < keys.size() || taken.get() < offered) {
      throw WireFormatException.request("end of a put",
          "after room for " + keys.size() + " keys and the slices of all windows",
          "after room for " + nextKey + " and " + taken.get() + " of " + offered + " windows");
    }
    if (!damaged.isEmpty()) { // the others were stored, each with its receipt
      throw new RemoteTransientException(ErrorCode.BLOCK_CORRUPT.code(),
          "blocks must arrive intact (was %d of %d damaged on their way, the first %s)".formatted(damaged.size(),
              keys.size(), damaged.getFirst()));
    }
  }

  /// A window ends with its last slice, even if its source does not end it.
  private Flux<LayerSlice> slices(PutSource.Window window) {
    return source.window(window).doOnNext(this::count).takeUntil(PutSender::isLast);
  }

  /// Counts before the slice is sent: the answer to it may come on another thread.
  private void count(LayerSlice slice) {
    if (isLast(slice)) {
      taken.incrementAndGet();
    }
  }

  private static boolean isLast(LayerSlice slice) {
    return slice.place().remaining() == 0;
  }

  private List<Receipt> signalled(Payload payload) {
    begun.set(true);
    PutMessages.PutSignal signal = NodeConnection.read(payload, PutMessages.PutSignal.class);
    if (signal.room() != null) {
      PutSource.Window window = window(signal.room());
      if (!window.keys().isEmpty()) {
        offer(window);
      }
    }
    if (signal.failed() != null) {
      signal.failed().forEach(failed -> damaged.add(failed.key(keys)));
    }
    if (signal.landed() != null) {
      inFlight.landed(signal.landed());
    }
    return signal.stored() == null ? List.of() : receipts(signal.stored());
  }

  private List<Receipt> receipts(List<PutMessages.Stored> all) {
    List<Receipt> found = new ArrayList<>(all.size());
    for (PutMessages.Stored stored : all) {
      found.add(stored.receipt(keys));
    }
    return found;
  }

  private PutSource.Window window(PutMessages.Room room) {
    if (room.window() != nextWindow || room.first() != nextKey) {
      throw WireFormatException.request("room", "window " + nextWindow + " from key " + nextKey,
          room.window() + " from " + room.first());
    }
    room.requireIn(keys.size(), open.windowBlocks());
    nextWindow++;
    nextKey += room.wanted().size();
    Presence bits = room.wanted().presence();
    List<Integer> positions = new ArrayList<>(bits.size());
    List<BlockKey> wanted = new ArrayList<>(bits.size());
    for (int i = 0; i < bits.size(); i++) {
      if (bits.get(i)) {
        positions.add(room.first() + i);
        wanted.add(keys.get(room.first() + i));
      }
    }
    return new PutSource.Window(room.window(), positions, wanted, open.maxSliceBytes());
  }

  private void offer(PutSource.Window window) {
    offered++;
    Sinks.EmitResult result = rooms.tryEmitNext(window);
    // Else the slices have failed
    if (result != Sinks.EmitResult.FAIL_CANCELLED && result != Sinks.EmitResult.FAIL_TERMINATED) {
      result.orThrow();
    }
  }
}
