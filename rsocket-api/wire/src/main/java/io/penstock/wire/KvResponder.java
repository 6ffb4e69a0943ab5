package io.penstock.wire;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.PenstockVersion;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.carrier.MemoryProbe;
import io.penstock.carrier.NodeRing;
import io.penstock.carrier.SliceSender;
import io.penstock.operator.Quiet;
import io.penstock.stage.SplitLayers;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.RemovalCount;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import io.penstock.wire.security.Caller;
import io.penstock.wire.security.Role;
import io.penstock.wire.transfer.SegmentRegistry;
import io.penstock.wire.transport.AdvertisedEndpoints;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/// One connection as the server sees it: one method a route.
final class KvResponder implements RSocket {
  /// What all connections of a server share.
  ///
  /// @param decisions runs heavy requests
  /// @param segments null on a node that serves none
  /// @param staging slots for bytes of segments, shared by the connections
  /// @param writes into segments, by the engine whose last connection runs them
  record Serving(SpaceRoutes spaces, KvServerOptions options, AddressShares shares, Scheduler timers,
      Scheduler decisions,
      ByteBufAllocator allocator, BooleanSupplier draining, RunningStreams running,
      @Nullable SegmentRegistry segments, StagingSlots staging, DisaggServices disagg,
      Map<Long, ConnectionWrites> writes) {
    NodeBudget budget() {
      return shares.budget();
    }
  }

  /// A put may be silent so many times shorter while others wait for room.
  private static final int PRESSED = 10;

  private final Serving serving;
  private final SpaceRoutes spaces;
  private final String dataMimeType;
  private final Object address;
  private final @Nullable SocketAddress remote;
  private final AtomicBoolean gone = new AtomicBoolean();
  private final ConnectionHolds holds;
  private final NodeCarriers carriers;
  private final ConnectionRate rate;
  private final Budget outgoing;
  private final StreamTickets streams;
  private final Budget incoming;
  /// Blocks that open windows of puts may have.
  private final BudgetLane room;
  private final Budget requests;
  /// Requests that are charged; those that an `Error` cut short end with the connection.
  private final Set<Request> running = ConcurrentHashMap.newKeySet();
  private final SilenceLimit.Rule stall;
  private final ConnectionWrites writes;
  private final SegmentRoutes segments;
  private final DisaggRoutes disagg;
  private final SilenceLimit.Rule putStall;
  private final Disposable.Composite subscribed = Disposables.composite();

  /// For a peer that may do everything.
  KvResponder(Serving serving, String dataMimeType, Object address) {
    this(serving, dataMimeType, address, null, null);
  }

  /// @param address of the peer, whose connections share
  /// @param remote where the peer is, if its connection tells
  /// @param caller null for a peer that may do everything
  KvResponder(Serving serving, String dataMimeType, Object address, @Nullable SocketAddress remote,
      @Nullable Caller caller) {
    this.serving = serving;
    this.spaces = caller == null ? serving.spaces() : serving.spaces().of(caller);
    this.remote = remote;
    this.address = address;
    this.holds = new ConnectionHolds(address);
    AddressShares.Share share = serving.shares().enter(address);
    this.dataMimeType = dataMimeType;
    KvServerOptions options = serving.options();
    this.carriers = new NodeCarriers(options.carriers());
    this.rate = new ConnectionRate(options.rates(), serving.timers(), options.streams());
    this.outgoing = rate.outgoing(share.outgoing(options.sendWindowBytes(), options.maxStreams()));
    this.requests = share.requests();
    this.room = share.windows(options.maxStreams());
    this.incoming = rate.incoming(share.incoming(options.maxStreams()));
    this.stall = new SilenceLimit.Rule(options.stallTimeout(), serving.timers());
    this.putStall = new SilenceLimit.Rule(options.stallTimeout(), options.stallTimeout().dividedBy(PRESSED),
        () -> serving.shares().waitingPuts().get() > 0, serving.timers());
    this.streams = new StreamTickets(options.maxStreams(), serving.running());
    this.writes = new ConnectionWrites(serving.writes());
    this.segments =
        new SegmentRoutes(spaces, serving.segments(), writes, options.limits().maxSliceBytes(), outgoing, incoming,
            streams, stall, serving.allocator(), this::clock, carriers, serving.staging());
    serving.staging().enter();
    this.disagg = new DisaggRoutes(spaces, address, serving.disagg(), options.generation(), serving.timers());
  }

  @Override
  public Mono<Payload> requestResponse(Payload payload) {
    return Request.isHeavy(payload) ? answered(payload) : new Answer(payload, this::atOnce, () -> answered(payload));
  }

  /// What answers a question about visible blocks; null if the request is another one.
  private @Nullable Callable<Payload> atOnce(Payload payload) {
    Call call = Call.read(payload, dataMimeType, serving.allocator());
    boolean match = call.route().equals(Routes.MATCH);
    if (!match && !call.route().equals(Routes.EXISTS)) {
      return null;
    }
    Messages.KeysRequest request = call.message(Messages.KeysRequest.class);
    if (request.lease() != null) {
      return null;
    }
    BlockTier tier = tier(call, request.keys());
    List<BlockKey> keys = keys(request.keys(), tier);
    Callable<Payload> answer = match
        ? atOnce(tier.match(keys), prefix -> call.reply(new Messages.MatchReply(prefix)))
        : atOnce(tier.contains(keys), present -> call.reply(Messages.Bits.of(present)));
    if (answer != null) { // else the longer way counts it
      rate.admitted(call);
    }
    return answer;
  }

  /// What answers by a call, as Reactor has it for a `Mono` that computes its value; null for another `Mono`.
  @SuppressWarnings("unchecked") // a callable Mono calls for what it emits
  private static <T> @Nullable Callable<Payload> atOnce(Mono<T> answer, Function<T, Payload> reply) {
    return answer instanceof Callable<?> ready ? () -> reply.apply(((Callable<T>) ready).call()) : null;
  }

  private Mono<Payload> answered(Payload payload) {
    return answered(payload, call -> switch (rate.admitted(call).route()) {
      case Routes.HELLO -> hello(call, call.message(Handshake.Hello.class));
      case Routes.MATCH -> match(call, call.message(Messages.KeysRequest.class));
      case Routes.EXISTS -> exists(call, call.message(Messages.KeysRequest.class));
      case Routes.REMOVE -> working(() -> remove(call, call.message(HoldMessages.RemoveRequest.class)));
      case Routes.PIN -> working(() -> pin(call, call.message(HoldMessages.PinRequest.class)));
      case Routes.RELEASE -> holds
          .release(call.message(HoldMessages.ReleaseRequest.class).lease(), spaces.spaces().tiers())
          .map(released -> call.reply(new HoldMessages.ReleaseReply(released)));
      case Routes.STAT ->
        stat(spaces.of(call.route(), "space", call.message(Messages.StatRequest.class).space()).info())
            .map(call::reply);
      case Routes.DRAIN -> drained(call.message(Messages.DrainRequest.class))
          .thenReturn(true).map(drained -> call.reply(new Messages.DrainReply(drained)));
      case Routes.RING -> working(() -> ring(call, call.message(RingMessages.RingRequest.class)));
      case Routes.KEEP -> working(() -> disagg.answered(call));
      default -> disagg.serves(call.route()) ? disagg.answered(call) : segments.answered(call);
    });
  }

  /// The one message that has no answer.
  @Override
  public Mono<Void> fireAndForget(Payload payload) {
    return Mono.fromRunnable(() -> {
      try {
        Call call = Call.read(payload, dataMimeType, serving.allocator());
        if (!call.route().equals(Routes.LANDED)) {
          throw unknown(call.route(), "fire and forget");
        }
        streams.landed(call.message(Messages.Landed.class));
      } finally {
        payload.release();
      }
    });
  }

  @Override
  public Flux<Payload> requestStream(Payload payload) {
    return streamed(payload, call -> switch (rate.admitted(call).route()) {
      case Routes.GET -> get(call, call.message(Messages.GetRequest.class));
      case Routes.EVENTS -> events(call, call.message(Messages.EventsRequest.class));
      default -> working(() -> segments.streamed(call));
    });
  }

  @Override
  public Flux<Payload> requestChannel(Publisher<Payload> payloads) {
    return whileConnected(
        Flux.from(subscriber -> payloads.subscribe(new PutOpening(Operators.toCoreSubscriber(subscriber), this::put))));
  }

  /// The connection is gone: cancels every stream, also one that RSocket lost sight of after a damaged frame.
  @Override
  public void dispose() {
    subscribed.dispose();
    running.forEach(Request::close);
    streams.close();
    if (!gone.getAndSet(true)) {
      carriers.close(serving.running()::leaveRing);
      serving.staging().leave();
      serving.shares().leave(address);
      holds.close();
      writes.close();
    }
  }

  private Mono<ServerStat> stat(TierInfo asked) {
    return Flux.fromIterable(spaces.spaces().tiers())
        .concatMap(tier -> tier.stat().map(stat -> SpaceStat.of(tier.info(), stat))).collectList()
        .map(spaces -> ServerStat.of(serving.options().node(), asked, spaces, serving.budget(),
            serving.draining().getAsBoolean(), serving.running().carried()));
  }

  private Mono<Payload> hello(Call call, Handshake.Hello hello) {
    return spaces.of(hello)
        .map(tier -> call.reply(welcome(tier.info(), carriers.answer(hello.carriers(), MemoryProbe.hasBlocks()))));
  }

  private Handshake.Welcome welcome(TierInfo info, @Nullable List<Handshake.CarrierOffer> carriers) {
    Limits limits = serving.options().limits();
    return new Handshake.Welcome(Routes.VERSION, PenstockVersion.current(), serving.options().node(), info.name(),
        Handshake.Space.of(info.space()), limits.maxSliceBytes(), limits.windowBlocks(), limits.maxKeys(),
        info.capacityBlocks(), serving.options().generation(), carriers,
        AdvertisedEndpoints.hostToken().orElse(null),
        serving.options().endpoints().towards(remote).stream().map(Handshake.Place::of).toList(),
        List.of(Handshake.VIEWS, Handshake.GRANULE_CHECKSUMS));
  }

  private Mono<Void> drained(Messages.DrainRequest request) {
    carriers.look(); // a lease of a read ring may have been given back just before
    return streams.drained(request.ticket());
  }

  private Mono<Payload> ring(Call call, RingMessages.RingRequest request) {
    BlockTier tier = spaces.of(call.route(), "space", request.space());
    carriers.sender(request.proof()); // compares the proof
    if (!serving.options().rates().equals(KvServerOptions.Rates.none())) { // nothing that a ring moves waits for a rate
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "read ring",
          "asked of a node without limits.requests and limits.bytes: connect without a ring, or with the carrier inline"
              + " as well",
          "asked of a node with rates");
    }
    return tier.stat().map(stat -> call.reply(RingMessages.RingReply.of(ring(request, tier, stat).place())));
  }

  private NodeRing ring(RingMessages.RingRequest request, BlockTier tier, TierStat stat) {
    int most = serving.options().rings();
    if (!serving.running().tryEnterRing(most)) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "read rings of the node", "<= " + most, "another");
    }
    try {
      TierBlocks blocks = new TierBlocks(tier, stat, serving.draining(),
          new TierBlocks.Heard(serving.options().streams(), address, serving.running().out()));
      return carriers.ring(process -> NodeRing.open(process, request.place(), tier.info().space().id(),
          tier.info().space().layout(), blocks, ringTerms(stat, Duration.ofNanos(request.spinNanos()))));
    } catch (RuntimeException e) {
      serving.running().leaveRing();
      throw e;
    }
  }

  /// All rings together lease at most half of the blocks that the tier keeps in host memory.
  private NodeRing.Terms ringTerms(TierStat stat, Duration spin) {
    KvServerOptions options = serving.options();
    int leases = Math.clamp(TierBlocks.inMemory(stat) / 2 / options.rings(), 1, Integer.MAX_VALUE);
    return new NodeRing.Terms(leases, options.stallTimeout(), options.spin(spin));
  }

  private Mono<Payload> match(Call call, Messages.KeysRequest request) {
    BlockTier tier = tier(call, request.keys());
    List<BlockKey> keys = keys(request.keys(), tier);
    HoldMessages.LeaseWanted wanted = request.lease();
    return wanted == null
        ? tier.match(keys).map(prefix -> call.reply(new Messages.MatchReply(prefix)))
        : working(() -> holds.in(tier).lease(keys, wanted.terms(true))).map(lease -> call
            .reply(new Messages.MatchReply(lease.found().prefix(), HoldMessages.LeaseGiven.of(lease))));
  }

  private Mono<Payload> exists(Call call, Messages.KeysRequest request) {
    BlockTier tier = tier(call, request.keys());
    List<BlockKey> keys = keys(request.keys(), tier);
    HoldMessages.LeaseWanted wanted = request.lease();
    return wanted == null
        ? tier.contains(keys).map(present -> call.reply(Messages.Bits.of(present)))
        : working(() -> holds.in(tier).lease(keys, wanted.terms(false))).map(lease -> call
            .reply(Messages.ExistsReply.of(lease.found(), HoldMessages.LeaseGiven.of(lease))));
  }

  private Mono<Payload> remove(Call call, HoldMessages.RemoveRequest request) {
    if (request.keys() == null) {
      BlockTier tier = spaces.of(call.route(), "space", request.space());
      KeyFilter which = request.pattern() == null ? KeyFilter.all() : HexPattern.filter(request.pattern());
      return inTurns(holds.in(tier).remove(which, request.isForced())).reduce(RemovalCount.NONE, RemovalCount::plus)
          .map(count -> call.reply(HoldMessages.Outcomes.of(count)));
    }
    BlockTier tier = tier(call, request.keys());
    List<BlockKey> keys = keys(request.keys(), tier);
    return request.force() == null
        ? tier.remove(keys).map(removed -> call.reply(Messages.Bits.of(removed)))
        : holds.in(tier).remove(keys, request.isForced())
            .map(outcomes -> call.reply(HoldMessages.Outcomes.of(outcomes)));
  }

  /// Has each step wait for its turn among the heavy requests.
  private Flux<RemovalCount> inTurns(Flux<RemovalCount> steps) {
    return steps.concatMap(count -> Mono.just(count).subscribeOn(serving.decisions()), 1)
        .subscribeOn(serving.decisions());
  }

  private Mono<Payload> pin(Call call, HoldMessages.PinRequest request) {
    BlockTier tier = tier(call, request.keys());
    return holds.in(tier).pin(keys(request.keys(), tier), request.pin().pin())
        .map(outcomes -> call.reply(HoldMessages.Outcomes.of(outcomes)));
  }

  private Flux<Payload> events(Call call, Messages.EventsRequest request) {
    BlockTier tier = spaces.of(call.route(), "space", request.space());
    InFlight inFlight = streams.enterEndless();
    Flux<TierEvent> events = tier.stat().flatMapMany(stat -> {
      request.requireKnown(serving.options().generation(), stat.lastSequence());
      return request.isSnapshot() ? tier.follow() : tier.events(request.after());
    });
    return ReplyGate.of(events, event -> call.codec().encode(EventMessage.of(event), serving.allocator()),
        serving.allocator()).doFinally(end -> inFlight.over());
  }

  private Flux<Payload> get(Call call, Messages.GetRequest request) {
    BlockTier tier = tier(call, request.keys());
    BlockLayout layout = tier.info().space().layout();
    List<BlockKey> keys = keys(request.keys(), tier);
    OnMiss onMiss = request.miss();
    if (onMiss == OnMiss.ADMIT) { // the missing keys take the places of others
      spaces.require(Role.WRITER, call.route() + " with ADMIT", tier);
    }
    SliceShape shape =
        new SliceShape(windowBlocks(request.windowBlocks()), sliceBytes(request.maxSliceBytes(), layout),
            request.sliceOrder(), startLayer(request.startLayer(), layout));
    SliceSender sender = carriers.sender(request.proof());
    BlockView view = request.view() == null ? null : request.view().in(layout, shape.sliceBytes());
    boolean readerVerifies = request.isVerified() && view == null;
    return working(() -> {
      InFlight inFlight = streams.enter(request.ticket());
      StreamClock clock = clock(call, true);
      SliceFraming framing = new SliceFraming(tier.info().space().id(), layout, serving.allocator(), sender,
          serving.disagg().renewing(clock, request.request()), serving.options().limits().maxSliceBytes(),
          readerVerifies, outgoing);
      return clock.over(Flux.using(inFlight::openScope,
          scope -> lease(tier, keys, onMiss, request.lease(), scope)
              .map(lease -> readerVerifies ? lease.unverified() : lease)
              .flatMapMany(lease -> slices(lease, shape, view, onMiss, scope)
                  .transform(slices -> SliceGate.of(slices, framing, () -> call.reply(found(lease)), inFlight,
                      stallOf(onMiss), clock))),
          scope -> {
            scope.close();
            inFlight.over();
          }, false)); // after the last frame: a node that drains closes its connections when the last stream is over
    });
  }

  private Flux<LayerSlice> slices(Lease lease, SliceShape shape, @Nullable BlockView view, OnMiss onMiss,
      BlockScope scope) {
    return view == null
        ? limited(lease.slicedWindows(shape, scope), onMiss).transform(SplitLayers.into(scope))
        : limited(Quiet.afterCancel(lease.views(view, shape, scope)), onMiss);
  }

  private StreamClock clock(Call call, boolean isOutgoing) {
    return StreamClock.of(serving.options().streams(), call.route(), address, isOutgoing,
        isOutgoing ? serving.running().out() : rate.counted(serving.running().in()), call.trace());
  }

  private Mono<Lease> lease(BlockTier tier, List<BlockKey> keys, OnMiss onMiss, @Nullable Long under,
      BlockScope scope) {
    return under == null ? tier.lease(keys, onMiss, scope) : holds.in(tier).read(under, keys, scope);
  }

  /// @param payload the open message of a channel, which stays the caller's
  private CoreSubscriber<Payload> put(Payload payload, CoreSubscriber<? super Payload> out) {
    payload.retain();
    Request request = Request.charged(payload, requests, running);
    try {
      return request.route(dataMimeType, serving.allocator(), call -> put(rate.admitted(call), request, out));
    } catch (RuntimeException e) {
      request.close();
      throw e;
    }
  }

  private CoreSubscriber<Payload> put(Call call, Request request, CoreSubscriber<? super Payload> out) {
    if (segments.serves(call.route())) {
      return working(() -> segments.written(call, request, out));
    }
    if (!call.route().equals(Routes.PUT)) {
      throw unknown(call.route(), "request/channel");
    }
    PutMessages.PutRequest put = call.message(PutMessages.PutRequest.class);
    BlockTier tier = tier(call, put.keys());
    List<BlockKey> keys = keys(put.keys(), tier);
    int sliceBytes = sliceBytes(put.maxSliceBytes(), tier.info().space().layout());
    int windowBlocks = windowBlocks(put.windowBlocks());
    return working(() -> {
      InFlight inFlight = streams.enter(put.ticket());
      return new PutReceiver(out, new PutReceiver.Setting(tier, put.terms(), put.wantsOutcomes(), incoming, room,
          serving.shares().waitingPuts(), serving.options().windowsAhead(), sliceBytes, windowBlocks, call::reply,
          putStall, carriers.receiver(),
          () -> {
            request.close();
            inFlight.over();
          }, clock(call, false)), keys);
    });
  }

  private <T> Flux<T> limited(Flux<T> awaited, OnMiss onMiss) {
    return onMiss == OnMiss.SKIP ? awaited : AwaitLimit.of(awaited, serving.options().awaitTimeout(), serving.timers());
  }

  /// A reader that awaits blocks may give its credit when they come.
  private SilenceLimit.Rule stallOf(OnMiss onMiss) {
    return onMiss == OnMiss.SKIP
        ? stall
        : new SilenceLimit.Rule(stall.limit().plus(serving.options().awaitTimeout()), stall.timers());
  }

  private static Messages.Found found(Lease lease) {
    return new Messages.Found(Messages.Bits.of(lease.hits()), Messages.Bits.of(lease.found()),
        Messages.Bits.of(lease.admitted()),
        Messages.Bits.of(lease.awaited()));
  }

  private <T> T working(Supplier<T> work) {
    if (serving.draining().getAsBoolean()) {
      throw new DrainingException();
    }
    return work.get();
  }

  private BlockTier tier(Call call, Messages.Keys keys) {
    return spaces.of(call.route(), "keys.space", keys.spaceId());
  }

  private List<BlockKey> keys(Messages.Keys keys, BlockTier tier) {
    return keys.in(tier.info().space().id(), serving.options().limits().maxKeys());
  }

  private static int startLayer(int layer, BlockLayout layout) {
    if (layer < 0 || layer >= layout.layers()) {
      throw WireFormatException.request("startLayer", "in [0, " + layout.layers() + ")", layer);
    }
    return layer;
  }

  private int sliceBytes(int asked, BlockLayout layout) {
    int bytes = within("maxSliceBytes", asked, 4096, serving.options().limits().maxSliceBytes());
    new Limits(bytes, 1, 1).requireFits(layout);
    return bytes;
  }

  private int windowBlocks(int asked) {
    return within("windowBlocks", asked, 1, serving.options().limits().windowBlocks());
  }

  private static int within(String field, int asked, int least, int most) {
    if (asked < least || asked > most) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, field, "in [" + least + ", " + most + "]", asked);
    }
    return asked;
  }

  private static WireFormatException unknown(String route, String interaction) {
    return new WireFormatException(ErrorCode.UNKNOWN_ROUTE, "route", "one that is served by " + interaction, route);
  }

  private Mono<Payload> answered(Payload payload, Function<Call, Mono<Payload>> route) {
    return Mono.using(() -> Request.charged(payload, requests, running), request -> {
      Mono<Payload> answer = Mono.defer(() -> request.route(dataMimeType, serving.allocator(), route));
      return request.isHeavy() ? answer.subscribeOn(serving.decisions()) : answer;
    }).onErrorMap(WireErrors::toWire);
  }

  private Flux<Payload> streamed(Payload payload, Function<Call, Flux<Payload>> route) {
    return ServedStream.of(() -> Request.charged(payload, requests, running), request -> request.isHeavy()
        ? Flux.defer(() -> request.route(dataMimeType, serving.allocator(), route))
            .subscribeOn(serving.decisions(), false)
        : request.route(dataMimeType, serving.allocator(), route), subscribed);
  }

  /// Cancels `stream` when the connection is gone. What it sends at that moment still reaches RSocket, which releases
  /// it: an operator that ended the stream instead would drop it.
  private Flux<Payload> whileConnected(Flux<Payload> stream) {
    return Flux.defer(() -> {
      Disposable.Swap one = Disposables.swap();
      subscribed.add(one);
      return stream.doOnSubscribe(subscription -> one.update(subscription::cancel))
          .doFinally(end -> subscribed.remove(one));
    }).onErrorMap(WireErrors::toWire);
  }
}
