package io.penstock.wire.client.get;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.session.SessionUse;
import io.penstock.carrier.ClientRing;
import io.penstock.carrier.LeasedMemory;
import io.penstock.tier.OnMiss;
import io.penstock.wire.client.link.ClientCarriers;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SessionMessages;
import io.penstock.wire.protocol.WireFailure.CarrierUnavailableException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.report.Carried;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.slice.Landing;
import io.penstock.wire.trace.TraceContext;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// The gets of one connection of a client.
///
/// @param setting of gets that skip what the node does not have
/// @param shortTurns which gets of few bytes ask for one answer; null if the node gives none
/// @param tickets of the connection
/// @param all counts the bytes of all gets
public record Gets(NodeConnection connection, ClientCarriers carriers, GetSetting setting,
    @Nullable ShortTurns shortTurns, AtomicLong tickets, Carried all) {
  /// Lets the node decide on `keys` and leases what it found.
  ///
  /// @param under read lease to read under; null for none
  public Mono<RemoteLease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable Long under, BlockScope scope) {
    return lease(keys, onMiss, under, null, scope);
  }

  /// @param session of the request; null for none
  public Mono<RemoteLease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable Long under,
      @Nullable SessionUse session, BlockScope scope) {
    List<BlockKey> asked = BlockKey.distinct(keys, setting.space());
    return connection.transport().turns()
        .retried(Mono.create(sink -> new Get(asked, onMiss, under, session, scope, sink).start()));
  }

  /// One get, until its reader has the lease: through the read ring if that has all of its blocks, else over the
  /// connection.
  private final class Get {
    private final List<BlockKey> keys;
    private final OnMiss onMiss;
    private final @Nullable Long under;
    private final @Nullable SessionUse session;
    private final BlockScope scope;
    private final MonoSink<RemoteLease> sink;
    private final @Nullable TraceContext trace;
    private final StreamClock clock;
    private final Disposable.Swap running = Disposables.swap();

    private Get(List<BlockKey> keys, OnMiss onMiss, @Nullable Long under, @Nullable SessionUse session,
        BlockScope scope, MonoSink<RemoteLease> sink) {
      this.keys = keys;
      this.onMiss = onMiss;
      this.under = under;
      this.session = session;
      this.scope = scope;
      this.sink = sink;
      this.trace = TraceContext.of(sink.contextView());
      this.clock = clock(trace);
    }

    private void start() {
      sink.onCancel(running);
      ClientRing ring = ringFor();
      if (ring == null) {
        overConnection();
      } else {
        throughRing(ring);
      }
    }

    private @Nullable ClientRing ringFor() {
      boolean fits = onMiss == OnMiss.SKIP && under == null && session == null && !keys.isEmpty()
          && keys.size() <= RingAsk.MOST_KEYS
          && setting.startLayer() == 0;
      return fits ? carriers.ring() : null;
    }

    private void throughRing(ClientRing ring) {
      RingAsk ask = new RingAsk(connection.transport().answers(), keys.size(), this::decided);
      running.replace(Disposables.composite(ask, () -> clock.ended(null))); // before an answer can replace it
      ask.ask(ring, keys);
    }

    /// @param blocks all of them, or null
    private void decided(@Nullable List<LeasedMemory> blocks) {
      if (blocks == null) {
        overConnection();
      } else {
        RingStream stream = new RingStream(setting, blocks, clock);
        leased(RemoteLease.ofAll(stream, blocks.size(), () -> drain(tickets.incrementAndGet(), stream::isDone)));
      }
    }

    private void overConnection() {
      byte[] proof = carriers.proof();
      ShortTurns turns = shortTurns;
      if (turns == null || proof != null || onMiss != OnMiss.SKIP || !ShortGet.fits(setting, keys) || !turns.isNext()
          || !asShort(turns)) {
        asStream(proof);
      }
    }

    /// Asks for one answer, if there is room for it now.
    private boolean asShort(ShortTurns turns) {
      long ticket = tickets.incrementAndGet();
      ShortGet get = new ShortGet(setting, keys, landing(ticket, clock), clock, (blocks, found) -> {
        turns.answered();
        leased(new RemoteLease(blocks, () -> drain(ticket, () -> true), found));
      }, error -> refused(error, turns));
      if (!get.hold()) {
        return false;
      }
      running.replace(get); // before a stream can replace it
      try {
        Messages.GetRequest request = request(ticket, keys, onMiss, under, session, null, true);
        connection.rsocket().requestResponse(NodeConnection.request(Routes.GET, request, trace)).subscribe(get);
      } catch (RuntimeException | Error e) { // there is no memory for the request
        get.dispose();
        throw e;
      }
      return true;
    }

    /// Blocks that the node cannot give in one answer come as a stream.
    private void refused(Throwable error, ShortTurns turns) {
      if (!isAnswerTooLong(error)) {
        clock.ended(error);
        sink.error(error);
        return;
      }
      turns.refused();
      try {
        asStream(null);
      } catch (RuntimeException | Error e) {
        clock.ended(e);
        sink.error(e);
      }
    }

    private void asStream(byte @Nullable [] proof) {
      Messages.GetRequest request = request(tickets.incrementAndGet(), keys, onMiss, under, session, proof, true);
      GetReceiver stream = new GetReceiver(setting.on(onMiss), keys, landing(request.ticket(), clock), clock,
          (receiver,
              found) -> leased(new RemoteLease(receiver, () -> drain(request.ticket(), receiver::isDone), found)),
          sink::error);
      connection.rsocket().requestStream(NodeConnection.request(Routes.GET, request, trace)).subscribe(stream);
      running.replace(stream::cancel);
    }

    private void leased(RemoteLease lease) {
      sink.success(scope.adopt(lease));
    }
  }

  private static boolean isAnswerTooLong(Throwable error) {
    return error instanceof RemotePermanentException refusal && refusal.code() == ErrorCode.LIMIT_EXCEEDED.code()
        && refusal.field() != null && refusal.field().endsWith(Messages.GetRequest.ONE_ANSWER);
  }

  private StreamClock clock(@Nullable TraceContext trace) {
    return connection.clock(Routes.GET, false, all, trace);
  }

  private Messages.GetRequest request(long ticket, List<BlockKey> asked, OnMiss onMiss, @Nullable Long under,
      @Nullable SessionUse session, byte @Nullable [] proof, boolean verifies) {
    return new Messages.GetRequest(Messages.Keys.of(setting.space(), asked), onMiss.name(), setting.order().name(),
        setting.startLayer(), setting.maxSliceBytes(), setting.windowBlocks(), ticket, under, proof,
        verifies ? true : null, null, null, SessionMessages.Named.of(session));
  }

  private Landing landing(long ticket, Carried carried) {
    return Landing.of(carriers.receiver(),
        window -> connection.tell(Routes.LANDED, new Messages.Landed(ticket, window)), carried, this::compareAtNode);
  }

  /// Completes when the node holds nothing any more of the stream that was opened with `ticket`; owed from when it
  /// ends.
  private Mono<Void> drain(long ticket, BooleanSupplier owed) {
    return connection.ask(Routes.DRAIN, new Messages.DrainRequest(ticket), Messages.DrainReply.class, owed).then();
  }

  /// Asks the node to compare the block of `key`, and to remove it if it is damaged: the node compares no block that
  /// its reader verifies. A block that was damaged on the way stays.
  private void compareAtNode(BlockKey key) {
    List<BlockKey> asked = List.of(key);
    Flux.using(BlockScope::new,
        scope -> connection.transport().turns()
            .retried(Mono.<RemoteLease>create(sink -> compareAtNode(asked, scope, sink)))
            .flatMapMany(lease -> lease.slices(scope)).doOnNext(LayerSlice::close),
        BlockScope::close)
        .onErrorComplete().subscribe(); // the node says that the block is damaged
  }

  private void compareAtNode(List<BlockKey> asked, BlockScope scope, MonoSink<RemoteLease> sink) {
    Messages.GetRequest request = request(tickets.incrementAndGet(), asked, OnMiss.SKIP, null, null, null, false);
    GetReceiver stream = new GetReceiver(setting, asked,
        (receiver, found) -> sink
            .success(scope.adopt(new RemoteLease(receiver, () -> drain(request.ticket(), receiver::isDone), found))),
        sink::error);
    connection.rsocket().requestStream(NodeConnection.request(Routes.GET, request)).subscribe(stream);
    sink.onCancel(stream::cancel);
  }

  /// Leases the block of `key` where it lies in the memory of the node, for reads without a copy.
  public Mono<PeerBlock> borrow(BlockKey key, BlockScope scope) {
    List<BlockKey> asked = BlockKey.distinct(List.of(key), setting.space());
    return Mono.create(sink -> {
      ClientRing ring = carriers.ring();
      if (ring == null) {
        sink.error(withoutRing("the client has no read ring, or it has ended"));
        return;
      }
      StreamClock clock = clock(TraceContext.of(sink.contextView()));
      RingAsk ask = new RingAsk(connection.transport().answers(), asked.size(), leased -> {
        if (leased != null) {
          clock.count(setting.arena().layout().blockBytes(), true);
          clock.ended(null);
          sink.success(scope.adopt(new PeerBlock(leased.getFirst())));
        } else if (ring.isOpen()) {
          clock.ended(null);
          sink.success();
        } else {
          CarrierUnavailableException ended = withoutRing("the read ring has ended");
          clock.ended(ended);
          sink.error(ended);
        }
      });
      sink.onCancel(Disposables.composite(ask, () -> clock.ended(null)));
      ask.ask(ring, asked);
    });
  }

  private static CarrierUnavailableException withoutRing(String reason) {
    return new CarrierUnavailableException(List.of(Carrier.SHARED_MEMORY), List.of(Carrier.INLINE), reason);
  }
}
