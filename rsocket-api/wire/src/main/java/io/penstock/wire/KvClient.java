package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.penstock.PenstockVersion;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.Permits;
import io.penstock.block.SpaceId;
import io.penstock.carrier.ClientRing;
import io.penstock.carrier.LeasedMemory;
import io.penstock.carrier.SharedMemoryReceiver;
import io.penstock.operator.InTurn;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.trace.TraceContext;
import io.penstock.wire.transport.AdvertisedEndpoints;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.ClientTransport;
import io.rsocket.util.DefaultPayload;
import io.rsocket.util.EmptyPayload;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// One connection to a node, protocol version 1.
///
/// Safe from any thread: threads share one client, and their gets, puts and look-ups run side by side over its
/// connection. A call needs no lock around it. Its signals come one at a time, on the event loop of the connection, on
/// the thread of the read ring if it went through that, or on the caller's thread if they are known at once. Neither of
/// the first two may block. Each lease has one reader and each scope one owner: share the
/// client, not those. A connection has one event loop; threads that move more than one core copies share a [KvPeer] of
/// several connections instead.
///
/// The arena and the budget are the caller's; several clients may share them, and all calls of a client do.
public final class KvClient {
  private final NodeConnection connection;
  private final KvClientOptions options;
  private final BlockArena arena;
  private final Permits budget;
  private final SpaceId space;
  private final Handshake.Welcome welcome;
  private final ClientCarriers carriers;
  private final SliceFraming framing;
  private final LookUps lookUps;
  private final AtomicLong tickets = new AtomicLong();
  private final CarriedBytes.Count in = new CarriedBytes.Count();
  private final CarriedBytes.Count out = new CarriedBytes.Count();

  private KvClient(NodeConnection connection, KvClientOptions options, CacheSpace space, BlockArena arena,
      ByteBudget budget,
      Handshake.Welcome welcome) {
    this.connection = connection;
    this.options = options;
    this.arena = arena;
    this.budget = budget.permits();
    this.space = space.id();
    this.welcome = welcome;
    this.lookUps = new LookUps(connection, this.space, welcome.maxKeys(), connection.transport().loop());
    this.carriers = ClientCarriers.agreed(options.carriers(), welcome.carriers());
    this.framing = new SliceFraming(this.space, space.layout(), ByteBufAllocator.DEFAULT, carriers.sender(), out,
        sliceBytes(), welcome.takesGranuleChecksums(),
        Budget.of(new Permits("send window", options.sendWindowBytes(), 1024)));
    connection.onClose().doFinally(end -> carriers.close()).subscribe();
  }

  /// Connects and agrees on version, space and limits.
  ///
  /// @param space whose blocks are exchanged; a difference from the server's is refused, naming the field
  /// @param arena where fetched blocks land
  /// @param budget limits the bytes in flight towards the arena
  /// @return a cold `Mono`; signals [ConnectionLostException], [RemotePermanentException] with
  ///     [ErrorCode#SPACE_MISMATCH] or [ErrorCode#VERSION_MISMATCH], [RemoteTransientException],
  ///     [CarrierUnavailableException]
  public static Mono<KvClient> connect(ClientTransport transport, KvClientOptions options, CacheSpace space,
      BlockArena arena,
      ByteBudget budget) {
    requireNonNull(transport, "transport");
    if (!arena.layout().equals(space.layout())) {
      throw new IllegalArgumentException("arena must have the layout of the space (was " + arena.layout() + ")");
    }
    new Limits(options.maxSliceBytes(), 1, 1).requireFits(space.layout());
    if (budget.capacityBytes() < options.maxSliceBytes()) {
      throw new IllegalArgumentException(
          "budget must be >= maxSliceBytes " + options.maxSliceBytes() + " (was " + budget.capacityBytes() + ")");
    }
    return Mono
        .defer(() -> connect(new KeptConnection(transport, options), options, space, arena, budget));
  }

  private static Mono<KvClient> connect(KeptConnection transport, KvClientOptions options, CacheSpace space,
      BlockArena arena,
      ByteBudget budget) {
    return rsocket(transport, options)
        .flatMap(rsocket -> agreed(new NodeConnection(rsocket, transport, "the node"), options, space)
            .map(welcome -> new KvClient(new NodeConnection(rsocket, transport, "node " + welcome.node()), options,
                space, arena, budget,
                welcome))
            .flatMap(KvClient::withRing)
            .doOnError(error -> transport.end(rsocket)).doOnCancel(() -> transport.end(rsocket)));
  }

  /// Opens the read ring that the options wish, if there is shared memory.
  private Mono<KvClient> withRing() {
    Duration spin = options.ringSpin();
    byte[] proof = carriers.proof();
    SharedMemoryReceiver memory = carriers.receiver();
    if (spin == null || proof == null || memory == null) {
      return Mono.just(this);
    }
    return Mono.defer(() -> {
      ClientRing ring = ClientRing.create(arena.layout(), memory, spin, RingThread::new);
      return connection
          .ask(Routes.RING, RingMessages.RingRequest.of(space, proof, ring.place(), spin), RingMessages.RingReply.class)
          .map(answers -> {
            ring.start(answers.place());
            carriers.ringIs(ring);
            return this;
          }).doOnError(error -> ring.close()).doOnCancel(ring::close);
    }).onErrorResume(error -> options.carriers().contains(Carrier.INLINE), refused -> Mono.just(this));
  }

  static Mono<RSocket> rsocket(KeptConnection transport, KvClientOptions options) {
    return RSocketConnector.create()
        .payloadDecoder(PayloadDecoder.ZERO_COPY)
        .interceptors(CheckedFrames::ofClient)
        .dataMimeType(NodeConnection.CODEC.mimeType())
        .metadataMimeType(RequestMetadata.COMPOSITE)
        .keepAlive(options.keepAlive(), options.keepAliveTimeout())
        .setupPayload(Mono.fromSupplier(() -> setup(options.credentials())))
        .connect(transport)
        .onErrorMap(error -> WireErrors.fromWire(error, "the node"));
  }

  private static Payload setup(Credentials credentials) {
    ByteBuf metadata = credentials.metadata(ByteBufAllocator.DEFAULT);
    return metadata.isReadable()
        ? DefaultPayload.create(Unpooled.EMPTY_BUFFER, metadata) // copies and releases
        : EmptyPayload.INSTANCE;
  }

  /// The same by the best transport that both have: a client on the node's host goes on over its Unix domain socket.
  ///
  /// The node tells where it listens. That it is on this host is proven by its socket's file, which can be opened here,
  /// and by the node behind it, which is the same start of the same node; no name counts. Where one of these fails, the
  /// first connection stays.
  ///
  /// @param transports makes a client of a place
  public static Mono<Reached> connectBest(Endpoint node, Function<Endpoint, ClientTransport> transports,
      KvClientOptions options, CacheSpace space, BlockArena arena, ByteBudget budget) {
    Function<Endpoint, Mono<Reached>> connecting = place -> connect(transports.apply(place), options, space, arena,
        budget).map(client -> new Reached(client, place));
    return connecting.apply(node).flatMap(first -> first.client().nearer(node)
        .map(socket -> connecting.apply(socket).flatMap(first::orNearer).onErrorResume(notHere -> Mono.just(first))
            .doOnCancel(first.client().connection::end))
        .orElseGet(() -> Mono.just(first)));
  }

  /// A client, and where it reached its node.
  public record Reached(KvClient client, Endpoint place) {
    /// `nearer`, if the same node is behind it; the other one is closed.
    private Mono<Reached> orNearer(Reached nearer) {
      boolean same = client.generation() != 0 && client.generation() == nearer.client.generation();
      return same ? client.close().thenReturn(nearer) : nearer.client.close().thenReturn(this);
    }
  }

  /// A socket of this host at which the node may be, if it was reached in another way.
  private Optional<Endpoint> nearer(Endpoint reached) {
    String host = welcome.host();
    boolean sameHost = host != null && AdvertisedEndpoints.hostToken().filter(host::equals).isPresent();
    return reached.transport() == TransportKind.TCP && sameHost
        ? endpoints().stream().filter(place -> place.transport() == TransportKind.UDS)
            .findFirst()
        : Optional.empty();
  }

  /// Where the node says that it can be reached from here, its preferred transport first; empty if it does not say.
  public List<Endpoint> endpoints() {
    return welcome.places();
  }

  /// What a node and each of its spaces hold and serve now, asked over a connection of its own that names no space.
  ///
  /// @return a cold `Mono`; each subscription connects, asks once and ends the connection; signals what [#connect] does
  public static Mono<ServerStat> statOf(ClientTransport transport, KvClientOptions options) {
    return Mono.defer(() -> {
      KeptConnection kept = new KeptConnection(transport, options);
      return rsocket(kept, options).flatMap(rsocket -> statOf(new NodeConnection(rsocket, kept, "the node"), options)
          .doFinally(end -> kept.end(rsocket)));
    });
  }

  private static Mono<ServerStat> statOf(NodeConnection connection, KvClientOptions options) {
    return connection.ask(Routes.HELLO, hello(options, null, null), Handshake.Welcome.class)
        .doOnNext(Handshake.Welcome::requireVersion)
        .then(connection.ask(Routes.STAT, new Messages.StatRequest(), ServerStat.class));
  }

  private static Handshake.Hello hello(KvClientOptions options, Handshake.@Nullable Space space,
      @Nullable List<Handshake.CarrierOffer> carriers) {
    return new Handshake.Hello(List.of(Routes.VERSION), space, options.name() + " " + PenstockVersion.current(),
        carriers);
  }

  private static Mono<Handshake.Welcome> agreed(NodeConnection connection, KvClientOptions options, CacheSpace space) {
    Handshake.Hello hello = hello(options, Handshake.Space.of(space), ClientCarriers.offers(options.carriers()));
    return connection.ask(Routes.HELLO, hello, Handshake.Welcome.class).doOnNext(welcome -> welcome.requireFits(space));
  }

  /// Name the node gave itself.
  public String node() {
    return welcome.node();
  }

  /// Name of the tier behind the node.
  public String tier() {
    return welcome.tier();
  }

  /// Most blocks that the tier behind the node keeps; `Long.MAX_VALUE` if it did not tell.
  public long capacityBlocks() {
    return welcome.capacityBlocks() == null ? Long.MAX_VALUE : welcome.capacityBlocks();
  }

  /// Penstock version of the node.
  public String serverVersion() {
    return welcome.server();
  }

  /// What carries slices from the node, if its blocks lie in memory for it.
  public Carrier incomingCarrier() {
    return carriers.incoming();
  }

  /// What carries slices to the node, if the blocks of a put lie in memory for it.
  public Carrier outgoingCarrier() {
    return carriers.outgoing();
  }

  /// Bytes of blocks moved so far, by what carried them: what was agreed need not have carried each of them.
  public CarriedBytes carried() {
    return new CarriedBytes(in.byCarrier(), out.byCarrier());
  }

  /// Look-ups that have not been sent.
  int waitingLookUps() {
    return lookUps.waiting();
  }

  /// How its frames travel: a word of [io.penstock.wire.transport.TransportKind].
  public String transport() {
    return connection.transport().word();
  }

  /// Where fetched blocks land.
  public BlockArena arena() {
    return arena;
  }

  /// Length of the longest prefix of `keys` that the node has, without counting as a use.
  public Mono<Integer> match(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return connection.ask(Routes.MATCH, keys(asked), Messages.MatchReply.class).map(reply -> reply.of(asked.size()));
  }

  /// Which of `keys` the node has, without counting as a use. Small look-ups that are made in one turn of the event
  /// loop go as one request.
  public Mono<Presence> contains(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return lookUps.of(asked);
  }

  /// Removes `keys` and tells which were there.
  public Mono<Presence> remove(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return connection.ask(Routes.REMOVE, keys(asked), Messages.Bits.class).map(reply -> reply.of(asked.size()));
  }

  /// What the node holds and serves now.
  ///
  /// @return a cold `Mono`; each subscription asks once
  public Mono<ServerStat> stat() {
    return connection.ask(Routes.STAT, new Messages.StatRequest(Fields.bytes(space)), ServerStat.class);
  }

  /// History of the node's tier from after `sequence`, then what happens from now on.
  public Flux<TierEvent> events(long sequence) {
    return events(new Messages.EventsRequest(sequence, null, Fields.bytes(space), null));
  }

  /// The visible blocks of the node with their levels, then what happens from then on, as
  /// [io.penstock.tier.BlockTier#follow].
  public Flux<TierEvent> follow() {
    return events(new Messages.EventsRequest(0, null, Fields.bytes(space), true));
  }

  private Flux<TierEvent> events(Messages.EventsRequest request) {
    return Flux.defer(() -> connection.rsocket().requestStream(NodeConnection.request(Routes.EVENTS, request)))
        .map(payload -> NodeConnection.read(payload, EventMessage.class).event())
        .onErrorMap(connection::failure);
  }

  /// The same, if the node numbers its events as it did when its [#generation()] was this one; else it refuses.
  public Flux<TierEvent> events(long sequence, long generation) {
    return events(new Messages.EventsRequest(sequence, generation, Fields.bytes(space), null));
  }

  /// Differs from start to start of a node; 0 from a node that does not tell.
  public long generation() {
    return welcome.generation() == null ? 0 : welcome.generation();
  }

  /// Lets the node decide on `keys` and leases what it found.
  ///
  /// A stream that is read holds a window of the arena and at least one slice of the budget while it awaits blocks;
  /// a caller that must get blocks to be able to put those needs an arena and a budget with room beside it.
  ///
  /// @param onMiss what the node does about the others
  /// @param scope owns the lease
  /// @return a cold `Mono`; each subscription is one decision
  public Mono<RemoteLease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return lease(keys, onMiss, null, scope);
  }

  /// The same for the blocks that are there, under the read lease `id`.
  Mono<RemoteLease> read(long id, List<BlockKey> keys, BlockScope scope) {
    return lease(keys, OnMiss.SKIP, id, scope);
  }

  private Mono<RemoteLease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable Long under, BlockScope scope) {
    List<BlockKey> asked = distinct(keys);
    return connection.transport().turns().retried(Mono.create(sink -> {
      Disposable.Swap running = Disposables.swap();
      sink.onCancel(running);
      TraceContext trace = TraceContext.of(sink.contextView());
      StreamClock clock = clock(Routes.GET, false, in, trace);
      ClientRing ring = onMiss == OnMiss.SKIP && under == null ? ringFor(asked) : null;
      if (ring == null) {
        running.replace(overConnection(asked, onMiss, under, scope, sink, clock, trace));
        return;
      }
      RingAsk ask = new RingAsk(connection.transport().answers(), asked.size(), leased -> {
        if (leased == null) {
          running.replace(overConnection(asked, onMiss, under, scope, sink, clock, trace));
        } else {
          sink.success(scope.adopt(leased(leased, clock)));
        }
      });
      running.replace(Disposables.composite(ask, () -> clock.ended(null))); // before an answer can replace it
      ask.ask(ring, asked);
    }));
  }

  private @Nullable ClientRing ringFor(List<BlockKey> asked) {
    boolean fits = !asked.isEmpty() && asked.size() <= RingAsk.MOST_KEYS && options.startLayer() == 0;
    return fits ? ring() : null;
  }

  /// Of blocks that came through the ring.
  private RemoteLease leased(List<LeasedMemory> blocks, StreamClock clock) {
    RingStream stream = new RingStream(setting(OnMiss.SKIP), blocks, clock);
    Messages.Bits none = Messages.Bits.of(Presence.of(blocks.size(), new BitSet()));
    BitSet all = new BitSet();
    all.set(0, blocks.size());
    Messages.Bits found = Messages.Bits.of(Presence.of(blocks.size(), all));
    return new RemoteLease(stream, drain(tickets.incrementAndGet(), stream),
        new Messages.Found(found, found, none, none));
  }

  /// Leases the block of `key` where it lies in the memory of the node, for reads without a copy.
  ///
  /// @param scope owns the handle
  /// @return a cold `Mono`; empty if the node does not have the block where this process can read it: a lease gets it
  ///     then, if it is anywhere; signals [CarrierUnavailableException] without a read ring, or if the ring has ended
  public Mono<PeerBlock> borrow(BlockKey key, BlockScope scope) {
    List<BlockKey> asked = distinct(List.of(key));
    return Mono.create(sink -> {
      ClientRing ring = ring();
      if (ring == null) {
        sink.error(withoutRing("the client has no read ring, or it has ended"));
        return;
      }
      StreamClock clock = clock(Routes.GET, false, in, TraceContext.of(sink.contextView()));
      RingAsk ask = new RingAsk(connection.transport().answers(), asked.size(), leased -> {
        if (leased != null) {
          clock.count(arena.layout().blockBytes(), true);
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

  /// Whether gets may go through a read ring: false also once it has ended.
  public boolean hasRing() {
    return ring() != null;
  }

  @Nullable ClientRing ring() {
    return carriers.ring();
  }

  private GetSetting setting(OnMiss onMiss) {
    return new GetSetting(arena, space, budget, sliceBytes(), windowBlocks(), options.creditSlices(),
        options.startLayer(), options.order(), onMiss, NodeConnection.CODEC, connection.transport().answers(),
        connection.peer(), connection::failure);
  }

  /// @return cancels it
  private Disposable overConnection(List<BlockKey> asked, OnMiss onMiss, @Nullable Long under, BlockScope scope,
      MonoSink<RemoteLease> sink, StreamClock clock, @Nullable TraceContext trace) {
    Messages.GetRequest request = request(asked, onMiss, under, carriers.proof(), true);
    return leased(request, asked, onMiss, landing(request, clock), clock, scope, sink, trace);
  }

  private Messages.GetRequest request(List<BlockKey> asked, OnMiss onMiss, @Nullable Long under,
      byte @Nullable [] proof, boolean verifies) {
    return new Messages.GetRequest(Messages.Keys.of(space, asked), onMiss.name(), options.order().name(),
        options.startLayer(), sliceBytes(), windowBlocks(), tickets.incrementAndGet(), under, proof,
        verifies ? true : null);
  }

  /// @return cancels it
  private Disposable leased(Messages.GetRequest request, List<BlockKey> asked, OnMiss onMiss, Landing landing,
      StreamClock clock, BlockScope scope, MonoSink<RemoteLease> sink, @Nullable TraceContext trace) {
    GetReceiver stream = new GetReceiver(setting(onMiss), asked, landing, clock,
        (receiver, found) -> sink
            .success(scope.adopt(new RemoteLease(receiver, drain(request.ticket(), receiver), found))),
        sink::error);
    connection.rsocket().requestStream(NodeConnection.request(Routes.GET, request, trace)).subscribe(stream);
    return stream::cancel;
  }

  private StreamClock clock(String route, boolean isOutgoing, Carried all, @Nullable TraceContext trace) {
    return StreamClock.of(options.streams(), route, connection.peer(), connection.transport().word(), isOutgoing, all,
        trace);
  }

  private Landing landing(Messages.GetRequest request, Carried carried) {
    return Landing.of(carriers.receiver(),
        window -> connection.tell(Routes.LANDED, new Messages.Landed(request.ticket(), window)), carried,
        this::compareAtNode);
  }

  /// Has the node compare the block of `key`, and remove it if it is damaged: it compares no block that its reader
  /// verifies. What was damaged on the way stays.
  private void compareAtNode(BlockKey key) {
    List<BlockKey> asked = List.of(key);
    Flux.using(BlockScope::new, scope -> connection.transport().turns()
        .retried(Mono.<RemoteLease>create(sink -> sink.onCancel(
            leased(request(asked, OnMiss.SKIP, null, null, false), asked, OnMiss.SKIP, Landing.inline(),
                StreamClock.NONE, scope, sink, null))))
        .flatMapMany(lease -> lease.slices(scope)).doOnNext(LayerSlice::close), BlockScope::close)
        .onErrorComplete().subscribe(); // the node says that the block is damaged
  }

  /// Streams blocks into the node as room is made for them and answers a receipt for each block stored, in order of
  /// storing.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | the turn that `source` gives, the node's room and credit, and this connection's send window |
  /// | receipts | small and buffered, at most one a key |
  /// | cancel | the node forgets what was not committed |
  /// | ends | when the node stored, or skipped because it has them, all keys |
  /// | signals | those of `source`, [ConnectionLostException], [RemoteTransientException], [RemotePermanentException] |
  ///
  /// @param source asked to begin, then for each window when there is room for it
  public Flux<Receipt> put(List<BlockKey> keys, PutSource source) {
    return put(keys, PutTerms.plain(), source);
  }

  /// The same for blocks that get a pin or a group when they become visible.
  public Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, PutSource source) {
    List<BlockKey> asked = distinct(keys);
    int blocks = Math.clamp(asked.size(), 1, windowBlocks());
    return Flux.using(BlockScope::new,
        scope -> InTurn.of(source.begin(blocks, scope), Flux.defer(() -> sent(asked, terms, source))),
        BlockScope::close);
  }

  private Flux<Receipt> sent(List<BlockKey> asked, PutTerms terms, PutSource source) {
    return Flux.defer(() -> sent(asked, terms, source, new AtomicBoolean()));
  }

  /// @param begun set when the node has said anything but a refusal
  private Flux<Receipt> sent(List<BlockKey> asked, PutTerms terms, PutSource source, AtomicBoolean begun) {
    return connection.transport().turns().retried(Flux.deferContextual(context -> {
      PutMessages.PutRequest open =
          PutMessages.PutRequest.of(Messages.Keys.of(space, asked), sliceBytes(), windowBlocks(),
              tickets.incrementAndGet(), terms);
      TraceContext trace = TraceContext.of(context);
      StreamClock clock = clock(Routes.PUT, true, out, trace);
      return clock.over(new PutSender(source, asked, open, begun).over(connection, framing.counted(clock), trace));
    }), () -> !begun.get());
  }

  /// Completes when the node holds nothing any more of the stream that was opened with `ticket`; owed from when it
  /// ends.
  private Mono<Void> drain(long ticket, SerialSubscription stream) {
    return connection
        .ask(Routes.DRAIN, new Messages.DrainRequest(ticket), Messages.DrainReply.class, () -> stream.done).then();
  }

  /// Drops the connection; calls under way fail with [ConnectionLostException]. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      connection.end();
      return connection.onClose();
    });
  }

  /// Completes when the connection is gone, for whatever reason.
  public Mono<Void> onClose() {
    return connection.onClose();
  }

  /// The read leases, pins and removals of this connection.
  public TierHolds holds() {
    return new RemoteHolds(this);
  }

  <T> Mono<T> ask(String route, Object message, Class<T> reply) {
    return connection.ask(route, message, reply);
  }

  /// Requests that have not ended.
  int unanswered() {
    return connection.transport().answers().pending();
  }

  List<BlockKey> distinct(List<BlockKey> keys) {
    return BlockKey.distinct(keys, space);
  }

  Messages.Keys wireKeys(List<BlockKey> keys) {
    return Messages.Keys.of(space, keys);
  }

  /// The space of this client, for requests that name no keys.
  byte[] wireSpace() {
    return Fields.bytes(space);
  }

  private Messages.KeysRequest keys(List<BlockKey> keys) {
    return new Messages.KeysRequest(wireKeys(keys));
  }

  private int sliceBytes() {
    return Math.min(options.maxSliceBytes(), welcome.maxSliceBytes());
  }

  private int windowBlocks() {
    return (int) Math.min(Math.min(options.windowBlocks(), welcome.windowBlocks()), arena.capacitySlots());
  }
}
