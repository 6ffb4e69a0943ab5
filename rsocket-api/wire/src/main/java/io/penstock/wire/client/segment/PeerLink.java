package io.penstock.wire.client.segment;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.carrier.SharedMemoryReceiver;
import io.penstock.operator.Failures;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.link.ClientCarriers;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SegmentMessages;
import io.penstock.wire.protocol.SegmentParts;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.LateErrors;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.segment.SegmentLanding;
import io.penstock.wire.segment.SegmentReader;
import io.penstock.wire.segment.SegmentSender;
import io.penstock.wire.segment.SharedSlices;
import io.penstock.wire.segment.StagingSlots;
import io.penstock.wire.slice.InFlight;
import io.penstock.wire.transfer.SegmentLink;
import io.penstock.wire.transfer.SegmentRegistry;
import io.rsocket.Payload;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/// One RSocket connection of a transfer engine.
final class PeerLink implements SegmentLink {
  private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);

  private final NodeConnection connection;
  private final long engine;
  private final long number;
  private final Budget incoming;
  private final Budget outgoing;
  private final StagingSlots staging;
  private final KvClientOptions options;
  private final AtomicLong items = new AtomicLong();
  /// Maximum bytes of a slice: this side's limit, lowered to that of the peer.
  private volatile int sliceBytes;
  /// Maximum number of parts of an item that the peer takes.
  private volatile int mostParts = 1;
  /// Null until the peer has described its segments.
  private volatile @Nullable ClientCarriers carriers;
  /// Null if outgoing bytes go in frames.
  private volatile @Nullable SharedSlices shared;

  /// @param number grows from connection to connection of the engine
  PeerLink(NodeConnection connection, long engine, long number, Budget incoming, Budget outgoing,
      StagingSlots staging, KvClientOptions options) {
    this.connection = connection;
    this.engine = engine;
    this.number = number;
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.staging = staging;
    this.options = options;
    this.sliceBytes = options.maxSliceBytes();
  }

  @Override
  public Mono<SegmentRegistry.Snapshot> describe() {
    long node = connection.transport().peerProcess();
    List<Handshake.CarrierOffer> offers = carriers == null ? ClientCarriers.offers(options.carriers(), node) : null;
    return connection.ask(Routes.SEGMENTS, new SegmentMessages.SegmentsRequest(engine, number, offers),
        SegmentMessages.SegmentsReply.class)
        .map(told -> {
          told.requireIntact();
          if (carriers == null) {
            agree(ClientCarriers.agreed(options.carriers(), node, told.carriers()));
          }
          sliceBytes = Math.min(sliceBytes, told.maxSliceBytes());
          mostParts = told.mostParts();
          return told.snapshot();
        });
  }

  private void agree(ClientCarriers agreed) {
    carriers = agreed;
    shared = SharedSlices.of(agreed.sharedSender(), staging);
    staging.enter();
    connection.onClose().doFinally(end -> {
      agreed.close();
      staging.leave();
    }).subscribe();
  }

  private synchronized void useFrames(RemoteTransientException refusal) {
    if (shared != null) {
      shared = null;
      LOG.warn("{} cannot read shared memory: writes of this connection go in frames from now on: {}",
          connection.peer(), refusal.getMessage());
    }
  }

  @Override
  public int groupBytes() {
    return mostParts >= SegmentParts.MOST ? sliceBytes : 0;
  }

  @Override
  public String transport() {
    return connection.transport().word();
  }

  @Override
  public Operation read(List<Range> ranges, List<MemorySegment> into, Ending ending) {
    ClientCarriers agreed = carriers;
    byte[] proof = agreed == null ? null : agreed.proof();
    SegmentMessages.ItemRequest request = request(ranges, proof);
    SharedMemoryReceiver memory = agreed == null || proof == null ? null : agreed.receiver();
    SegmentLanding landing = new SegmentLanding(into, request, memory);
    SegmentReader reader = new SegmentReader(landing, incoming, request.maxSliceBytes(), options.creditSlices(),
        connection::failure, ending);
    connection.rsocket().requestStream(NodeConnection.request(Routes.READ, request, ending.trace())).subscribe(reader);
    return reader;
  }

  @Override
  public Operation write(List<Range> ranges, List<MemorySegment> from, Ending ending) {
    SegmentMessages.ItemRequest request = request(ranges, null);
    InFlight inFlight = new InFlight();
    SegmentSender sender = new SegmentSender(from, new SegmentSender.Setting(request, outgoing,
        ByteBufAllocator.DEFAULT, null, StreamClock.NONE, shared), inFlight,
        () -> NodeConnection.request(Routes.WRITE, request, ending.trace()));
    WriteAnswer answer = new WriteAnswer(sender, inFlight, request.length(), ending);
    connection.rsocket().requestChannel(sender).subscribe(answer);
    return answer;
  }

  private SegmentMessages.ItemRequest request(List<Range> ranges, byte @Nullable [] proof) {
    return SegmentMessages.ItemRequest.of(ranges, sliceBytes, items.incrementAndGet(), proof);
  }

  /// Answer of the peer to a write. The write ends when it has come, and no frame refers to the memory any more.
  private final class WriteAnswer implements CoreSubscriber<Payload>, Operation {
    private final SegmentSender sender;
    private final InFlight inFlight;
    private final long length;
    private final Ending ending;
    private final AtomicBoolean over = new AtomicBoolean();
    private final Disposable.Swap upstream = Disposables.swap();

    WriteAnswer(SegmentSender sender, InFlight inFlight, long length, Ending ending) {
      this.sender = sender;
      this.inFlight = inFlight;
      this.length = length;
      this.ending = ending;
    }

    @Override
    public Context currentContext() {
      return LateErrors.ignored();
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      upstream.update(subscription::cancel);
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Payload payload) {
      try {
        NodeConnection.read(payload, SegmentMessages.WriteReply.class).require(length);
      } catch (RuntimeException | Error e) {
        upstream.dispose();
        end(Failures.passable(e));
        return;
      }
      end(null);
    }

    @Override
    public void onError(Throwable error) {
      Throwable failure = connection.failure(error);
      if (failure instanceof RemoteTransientException told && told.code() == ErrorCode.TRANSIENT.code()
          && sender.sharedBytes() > 0) { // as a peer says that it cannot read the memory
        useFrames(told);
      }
      end(failure);
    }

    @Override
    public void onComplete() {
      end(WireFormatException.request("answer to a write", "present", "absent"));
    }

    /// Memory that the peer may read is quiet once it has answered.
    @Override
    public void abort() {
      sender.stop(() -> {
        upstream.dispose();
        end(new CancellationException("write was stopped"));
      });
    }

    @Override
    public long sharedBytes() {
      return sender.sharedBytes();
    }

    private void end(@Nullable Throwable error) {
      if (!over.getAndSet(true)) {
        inFlight.onDrained(() -> ending.ended(error));
        sender.release(!(error instanceof ConnectionLostException));
        sender.cancel();
      }
    }
  }

  @Override
  public Operation tell(Letter letter, Ending ending) {
    AtomicBoolean over = new AtomicBoolean();
    Disposable.Swap asking = Disposables.swap();
    asking.update(connection
        .ask(Routes.NOTIFY, SegmentMessages.NotifyRequest.of(letter), SegmentMessages.NotifyReply.class)
        .subscribe(reply -> end(over, ending, null), error -> end(over, ending, error)));
    return () -> {
      asking.dispose();
      end(over, ending, new CancellationException("notification was stopped"));
    };
  }

  private static void end(AtomicBoolean over, Ending ending, @Nullable Throwable error) {
    if (!over.getAndSet(true)) {
      ending.ended(error);
    }
  }

  @Override
  public boolean isOver() {
    return connection.rsocket().isDisposed();
  }

  @Override
  public Mono<Void> onClose() {
    return connection.onClose();
  }

  @Override
  public void close() {
    connection.end();
  }
}
