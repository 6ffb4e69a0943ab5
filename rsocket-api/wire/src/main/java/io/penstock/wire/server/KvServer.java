package io.penstock.wire.server;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.budget.Permits;
import io.penstock.check.Uncaught;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.NodeBudget;
import io.penstock.wire.credit.Reclaim;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.Caller;
import io.penstock.wire.segment.StagingSlots;
import io.penstock.wire.server.call.HeldRights;
import io.penstock.wire.server.call.RunningStreams;
import io.penstock.wire.server.call.Turns;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.server.space.ServedSpaces;
import io.penstock.wire.transfer.SegmentRegistry;
import io.penstock.wire.transport.CheckedFrames;
import io.rsocket.Closeable;
import io.rsocket.ConnectionSetupPayload;
import io.rsocket.RSocket;
import io.rsocket.RSocketErrorException;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketServer;
import io.rsocket.exceptions.ConnectionErrorException;
import io.rsocket.exceptions.RejectedSetupException;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.ServerTransport;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Serves any [BlockTier], or one for each of several spaces, over RSocket, protocol version 1.
///
/// The tiers, the budget, the transport and the scheduler are the caller's: closing the server closes none of them.
public final class KvServer {
  /// How late streams end whose right was taken away.
  private static final Duration REVIEW = Duration.ofSeconds(1);
  /// Name in the log.
  private static final String DOOR = "rsocket";

  private final Closeable listening;
  private final AtomicBoolean draining;
  private final RunningStreams running;
  private final Connections connections;
  private final Disposable reviews;

  private KvServer(Closeable listening, AtomicBoolean draining, RunningStreams running, Connections connections,
      Disposable reviews) {
    this.reviews = reviews;
    this.listening = listening;
    this.draining = draining;
    this.running = running;
    this.connections = connections;
  }

  /// One connection.
  ///
  /// @param served disposed when it is gone, even if RSocket's own end of it is lost
  private record Open(RSocket peer, KvResponder served, Consumer<RSocketErrorException> end) {
    /// Ends what the caller has lost the right to.
    void review() {
      if (!served.review()) {
        end.accept(new ConnectionErrorException("credentials must be those of a user (were removed)"));
        peer.dispose();
      }
    }
  }

  /// The connections that are open: not every transport drops them when it stops listening.
  private static final class Connections {
    private final Map<RSocket, Open> open = new LinkedHashMap<>();
    private boolean dropped;

    void enter(Open connection) {
      RSocket peer = connection.peer;
      RSocket served = connection.served;
      boolean late;
      synchronized (open) {
        late = dropped;
        open.put(peer, connection);
      }
      peer.onClose().onErrorComplete().doFinally(end -> {
        leave(peer);
        served.dispose();
      }).subscribe();
      if (late) { // its password was compared while the server closed
        peer.dispose();
      }
    }

    private void leave(RSocket peer) {
      synchronized (open) {
        open.remove(peer);
      }
    }

    void drop() {
      List<RSocket> now;
      synchronized (open) {
        dropped = true;
        now = List.copyOf(open.keySet());
      }
      now.forEach(RSocket::dispose);
    }

    void review() {
      List<Open> now;
      synchronized (open) {
        now = List.copyOf(open.values());
      }
      now.forEach(each -> attempt(each::review));
    }
  }

  /// Binds `transport` and serves `tier`.
  ///
  /// @param budget limits the bytes in flight of the node, in and out, over all connections; no direction ever has more
  ///     than three quarters of it
  /// @param timers for time limits; never used for work. With [io.penstock.operator.LiveTimers] no peer is judged by
  ///     time in which this process stood still
  /// @return a cold `Mono`; completes when the transport listens
  /// @throws IllegalArgumentException if a slice cannot hold one row of the tier's layout, or the budget not one
  ///     slice each way
  public static Mono<KvServer> bind(ServerTransport<? extends Closeable> transport, BlockTier tier,
      KvServerOptions options, ByteBudget budget, Scheduler timers) {
    return bind(transport, tier, options, budget, timers, Schedulers.immediate());
  }

  /// Binds a node that strangers reach.
  ///
  /// @param decisions runs requests of many keys one after another, so that none of them keeps an event loop, and
  ///     compares passwords; one thread is enough
  public static Mono<KvServer> bind(ServerTransport<? extends Closeable> transport, BlockTier tier,
      KvServerOptions options, ByteBudget budget, Scheduler timers, Scheduler decisions) {
    return bind(transport, NodeSpaces.of(List.of(tier)), options, budget, timers, decisions);
  }

  /// Binds a node of several spaces, whose bytes in flight and open windows are bounded together.
  public static Mono<KvServer> bind(ServerTransport<? extends Closeable> transport, NodeSpaces spaces,
      KvServerOptions options, ByteBudget budget, Scheduler timers, Scheduler decisions) {
    return bind(transport, spaces, null, options, budget, timers, decisions);
  }

  /// Binds a node that also serves segments of memory, or, with [NodeSpaces#none()], nothing else.
  ///
  /// @param segments that peers may read and write; null for none
  public static Mono<KvServer> bind(ServerTransport<? extends Closeable> transport, NodeSpaces spaces,
      @Nullable SegmentRegistry segments, KvServerOptions options, ByteBudget budget, Scheduler timers,
      Scheduler decisions) {
    return bind(transport, spaces, segments, DisaggServices.none(), options, budget, timers, decisions);
  }

  /// Binds a node by which prefill and decode ranks find each other, or that is one of them.
  public static Mono<KvServer> bind(ServerTransport<? extends Closeable> transport, NodeSpaces spaces,
      @Nullable SegmentRegistry segments, DisaggServices disagg, KvServerOptions options, ByteBudget budget,
      Scheduler timers, Scheduler decisions) {
    return bind(transport, spaces, segments, disagg, options, budget, timers, decisions, decisions);
  }

  /// Binds a node whose requests of many keys do not wait for passwords.
  ///
  /// @param passwords compares passwords: each takes a good part of a second; one thread is enough
  public static Mono<KvServer> bind(ServerTransport<? extends Closeable> transport, NodeSpaces spaces,
      @Nullable SegmentRegistry segments, DisaggServices disagg, KvServerOptions options, ByteBudget budget,
      Scheduler timers, Scheduler decisions, Scheduler passwords) {
    requireNonNull(transport, "transport");
    requireNonNull(disagg, "disagg");
    return bindFitted(transport, spaces, segments, disagg, options.awaitingAtLeast(disagg.leastAwait()), budget, timers,
        decisions, passwords);
  }

  private static Mono<KvServer> bindFitted(ServerTransport<? extends Closeable> transport, NodeSpaces spaces,
      @Nullable SegmentRegistry segments, DisaggServices disagg, KvServerOptions options, ByteBudget budget,
      Scheduler timers, Scheduler decisions, Scheduler passwords) {
    ServedSpaces routes = new ServedSpaces(spaces, options.limits());
    Supplier<Reclaim> reclaim = () -> new Reclaim(options.idleGrace(), timers);
    NodeBudget bytes = new NodeBudget(budget.permits(), options.limits().maxSliceBytes(), reclaim);
    AtomicBoolean draining = new AtomicBoolean();
    RunningStreams running = new RunningStreams();
    FairShares shares = new FairShares(bytes, lane("messages of requests", options.requestBytes(), reclaim.get()),
        lane("blocks of open windows", options.putBlocks(), reclaim.get()));
    Serving serving = new Serving(routes, options, shares, timers, new Turns(decisions), passwords,
        ByteBufAllocator.DEFAULT, draining::get, running, segments,
        new StagingSlots(options.limits().maxSliceBytes()), disagg,
        options.access().isOpen() ? HeldRights.fixed() : HeldRights.changing(), new ConcurrentHashMap<>());
    Connections connections = new Connections();
    return RSocketServer.create(acceptor(serving, connections)).payloadDecoder(PayloadDecoder.ZERO_COPY)
        .interceptors(registry -> CheckedFrames.ofNode(registry, options.mostLifetime())).bind(transport)
        .map(listening -> new KvServer(listening, draining, running, connections,
            reviews(serving, connections)));
  }

  private static BudgetLane lane(String name, long capacity, Reclaim reclaim) {
    return new BudgetLane(name, Budget.of(new Permits(name, capacity, 1)), capacity, Integer.MAX_VALUE, reclaim);
  }

  private static SocketAcceptor acceptor(Serving serving, Connections connections) {
    return (setup, peer) -> Mono.defer(() -> {
      CheckedFrames.Peer from = CheckedFrames.peer();
      requireServed(setup, serving);
      String dataMimeType = setup.dataMimeType();
      return serving.options().access().isOpen()
          ? Mono.just(entered(serving, dataMimeType, from, null, peer, connections))
          : caller(setup, from.source(), serving)
              .map(caller -> entered(serving, dataMimeType, from, caller, peer, connections));
    });
  }

  private static RSocket entered(Serving serving, String dataMimeType, CheckedFrames.Peer from,
      @Nullable Caller caller, RSocket peer, Connections connections) {
    KvResponder served = new KvResponder(serving, dataMimeType, from.source(), from.address(), caller, from.process());
    Open connection = new Open(peer, served, from.end());
    connections.enter(connection);
    connection.review(); // the user may have been removed while the password was compared
    return dataMimeType.equals(ControlCodec.JSON.mimeType()) ? new JsonErrors(served) : served;
  }

  /// Looks every second whether users or rules have changed, and ends what has lost its right.
  private static Disposable reviews(Serving serving, Connections connections) {
    Access access = serving.options().access();
    if (access.isOpen()) {
      return Disposables.disposed();
    }
    AtomicReference<Object> seen = new AtomicReference<>(access.inEffect());
    Scheduler reviews = serving.turns().ofConnection();
    return serving.timers().schedulePeriodically(() -> {
      Object now = access.inEffect();
      if (!now.equals(seen.getAndSet(now))) {
        Disposable unused = reviews.schedule(() -> {
          connections.review();
          attempt(serving.kept()::review);
        });
      }
    }, REVIEW.toMillis(), REVIEW.toMillis(), TimeUnit.MILLISECONDS);
  }

  /// What one reader makes of its end keeps no other from its own.
  private static void attempt(Runnable review) {
    try {
      review.run();
    } catch (RuntimeException | Error e) {
      Uncaught.report(e);
    }
  }

  /// Compares passwords away from the event loop.
  private static Mono<Caller> caller(ConnectionSetupPayload setup, Object source, Serving serving) {
    Access.Attempt attempt = serving.options().access().begin(setup.sliceMetadata(), DOOR, source,
        serving.timers().now(TimeUnit.MILLISECONDS));
    Mono<Caller> caller = Mono.fromCallable(attempt::caller);
    return attempt.isHeavy() ? caller.subscribeOn(serving.passwords()) : caller;
  }

  private static void requireServed(ConnectionSetupPayload setup, Serving serving) {
    if (serving.draining().getAsBoolean()) {
      throw new RejectedSetupException(new DrainingException().getMessage());
    }
    if (!setup.metadataMimeType().equals(RequestMetadata.COMPOSITE)) {
      throw new RejectedSetupException(
          "metadata MIME type must be " + RequestMetadata.COMPOSITE + " (was " + setup.metadataMimeType() + ")");
    }
  }

  /// Refuses new work from now on with [DrainingException]; running work may end.
  public void drain() {
    draining.set(true);
  }

  /// True from [#drain()] on.
  public boolean isDraining() {
    return draining.get();
  }

  /// Streams of slices that run now, over all connections: gets until the socket took their last frame, and puts.
  public int runningStreams() {
    return running.count();
  }

  /// Drains, and completes when the streams that ran have ended; lazy. Streams of events do not count: they end with
  /// the server.
  public Mono<Void> drained() {
    return Mono.defer(() -> {
      drain();
      return running.none();
    });
  }

  /// The listening socket; its type is the transport's.
  public Closeable listening() {
    return listening;
  }

  /// Stops listening and drops the connections; lazy and idempotent, completes when the transport is closed.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      draining.set(true);
      reviews.dispose();
      listening.dispose();
      connections.drop();
      return listening.onClose();
    });
  }
}
