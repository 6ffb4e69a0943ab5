package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.PenstockVersion;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.Permits;
import io.penstock.block.SpaceId;
import io.penstock.stage.InTurn;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierEvent;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.ClientTransport;
import io.rsocket.util.ByteBufPayload;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.concurrent.Queues;

/// One connection to a node, protocol version 1. Safe from any thread.
///
/// The arena and the budget are the caller's; several clients may share them.
public final class KvClient {
  private static final ControlCodec CODEC = ControlCodec.CBOR;
  /// Windows of a put for which a server may have made room before their slices were taken.
  private static final int ROOMS_AHEAD = 64;

  private final RSocket rsocket;
  private final KeptConnection connection;
  private final KvClientOptions options;
  private final BlockArena arena;
  private final Permits budget;
  private final SpaceId space;
  private final Messages.Welcome welcome;
  private final SliceGate.Framing framing;
  private final String peer;
  private final AtomicLong tickets = new AtomicLong();

  private KvClient(RSocket rsocket, KeptConnection connection, KvClientOptions options, CacheSpace space, BlockArena arena, ByteBudget budget,
      Messages.Welcome welcome) {
    this.rsocket = rsocket;
    this.connection = connection;
    this.options = options;
    this.arena = arena;
    this.budget = budget.permits();
    this.space = space.id();
    this.welcome = welcome;
    this.peer = "node " + welcome.node();
    this.framing = new SliceGate.Framing(this.space, space.layout(), ByteBufAllocator.DEFAULT, sliceBytes(),
        new Permits("send window", options.sendWindowBytes(), 1024));
  }

  /// Connects and agrees on version, space and limits.
  ///
  /// @param space whose blocks are exchanged; a difference from the server's is refused, naming the field
  /// @param arena where fetched blocks land
  /// @param budget limits the bytes in flight towards the arena
  /// @return a cold `Mono`; signals [ConnectionLostException], [RemotePermanentException] with [ErrorCode#SPACE_MISMATCH] or
  ///     [ErrorCode#VERSION_MISMATCH], [RemoteTransientException]
  public static Mono<KvClient> connect(ClientTransport transport, KvClientOptions options, CacheSpace space, BlockArena arena,
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
    return Mono.defer(() -> connect(new KeptConnection(transport), options, space, arena, budget));
  }

  private static Mono<KvClient> connect(KeptConnection transport, KvClientOptions options, CacheSpace space, BlockArena arena,
      ByteBudget budget) {
    return RSocketConnector.create()
        .payloadDecoder(PayloadDecoder.ZERO_COPY)
        .dataMimeType(CODEC.mimeType())
        .metadataMimeType(RequestMetadata.COMPOSITE)
        .keepAlive(options.keepAlive(), options.keepAliveTimeout())
        .connect(transport)
        .onErrorMap(error -> WireErrors.fromWire(error, "the node"))
        .flatMap(rsocket -> hello(rsocket, options, space)
            .doOnNext(welcome -> requireFits(welcome, space))
            .map(welcome -> new KvClient(rsocket, transport, options, space, arena, budget, welcome))
            .doOnError(error -> transport.end(rsocket)).doOnCancel(() -> transport.end(rsocket)));
  }

  private static Mono<Messages.Welcome> hello(RSocket rsocket, KvClientOptions options, CacheSpace space) {
    Messages.Hello hello = new Messages.Hello(List.of(Routes.VERSION), Messages.Space.of(space),
        options.name() + " " + PenstockVersion.current());
    return call(rsocket, Routes.HELLO, hello, Messages.Welcome.class).onErrorMap(error -> WireErrors.fromWire(error, "the node"));
  }

  /// The node refuses what differs; a node that does not is not believed either.
  private static void requireFits(Messages.Welcome welcome, CacheSpace space) {
    if (welcome.version() != Routes.VERSION) {
      throw new WireFormatException(ErrorCode.VERSION_MISMATCH, "welcome.version", "" + Routes.VERSION, welcome.version());
    }
    if (!welcome.space().spaceId().equals(space.id())) {
      throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "welcome.space", "" + space.id(), welcome.space().spaceId());
    }
    try {
      new Limits(welcome.maxSliceBytes(), 1, 1).requireFits(space.layout());
    } catch (IllegalArgumentException e) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "welcome.maxSliceBytes", "at least one row", String.valueOf(e.getMessage()));
    }
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

  /// Where fetched blocks land.
  public BlockArena arena() {
    return arena;
  }

  /// Length of the longest prefix of `keys` that the node has, without counting as a use.
  public Mono<Integer> match(List<BlockKey> keys) {
    List<BlockKey> asked = checked(keys);
    return ask(Routes.MATCH, keys(asked), Messages.MatchReply.class).map(reply -> reply.of(asked.size()));
  }

  /// Which of `keys` the node has, without counting as a use.
  public Mono<Presence> contains(List<BlockKey> keys) {
    List<BlockKey> asked = checked(keys);
    return ask(Routes.EXISTS, keys(asked), Messages.Bits.class).map(reply -> reply.of(asked.size()));
  }

  /// Removes `keys` and tells which were there.
  public Mono<Presence> remove(List<BlockKey> keys) {
    List<BlockKey> asked = checked(keys);
    return ask(Routes.REMOVE, keys(asked), Messages.Bits.class).map(reply -> reply.of(asked.size()));
  }

  /// What the node holds and serves now.
  ///
  /// @return a cold `Mono`; each subscription asks once
  public Mono<ServerStat> stat() {
    return ask(Routes.STAT, new Messages.StatRequest(), ServerStat.class);
  }

  /// History of the node's tier from after `sequence`, then what happens from now on.
  public Flux<TierEvent> events(long sequence) {
    return Flux.defer(() -> rsocket.requestStream(request(Routes.EVENTS, new Messages.EventsRequest(sequence))))
        .map(payload -> read(payload, Messages.Event.class).event())
        .onErrorMap(this::failure);
  }

  /// Lets the node decide on `keys` and leases what it found.
  ///
  /// A stream that is read holds a window of the arena and at least one slice of the budget while it awaits blocks; whoever must get
  /// something to be able to put them needs an arena and a budget with room beside it.
  ///
  /// @param onMiss what the node does about the others
  /// @param scope owns the lease
  /// @return a cold `Mono`; each subscription is one decision
  public Mono<RemoteLease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    List<BlockKey> asked = checked(keys);
    return Mono.create(sink -> {
      long ticket = tickets.incrementAndGet();
      Messages.GetRequest request = new Messages.GetRequest(Messages.Keys.of(space, asked), onMiss.name(), options.order().name(),
          options.startLayer(), sliceBytes(), windowBlocks(), ticket);
      GetReceiver.Setting setting = new GetReceiver.Setting(arena, space, budget, sliceBytes(), windowBlocks(), options.creditSlices(),
          options.startLayer(), options.order(), CODEC, this::failure);
      GetReceiver[] receiver = new GetReceiver[1];
      receiver[0] = new GetReceiver(setting, asked,
          found -> sink.success(scope.adopt(new RemoteLease(receiver[0], drain(ticket), found))), sink::error);
      sink.onCancel(receiver[0]::cancel);
      rsocket.requestStream(request(Routes.GET, request)).subscribe(receiver[0]);
    });
  }

  /// Streams blocks into the node as room is made for them and answers a receipt for each block stored, in order of storing.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | the turn that `source` gives, the node's room and credit, and this connection's send window; receipts are small and buffered, at most one a key |
  /// | cancel | the node forgets what was not committed |
  /// | ends | when the node stored, or skipped because it has them, all keys |
  /// | signals | those of `source`, [ConnectionLostException], [RemoteTransientException], [RemotePermanentException] |
  ///
  /// @param source asked to begin, then for each window when there is room for it
  public Flux<Receipt> put(List<BlockKey> keys, PutSource source) {
    List<BlockKey> asked = checked(keys);
    int blocks = Math.clamp(asked.size(), 1, windowBlocks());
    return Flux.using(BlockScope::new, scope -> InTurn.of(source.begin(blocks, scope), stream(asked, source)), BlockScope::close);
  }

  private Flux<Receipt> stream(List<BlockKey> asked, PutSource source) {
    return Flux.defer(() -> {
      Sinks.Many<PutWindow> rooms = Sinks.many().unicast().onBackpressureBuffer(Queues.<PutWindow>get(ROOMS_AHEAD).get());
      NextRoom next = new NextRoom();
      Messages.PutRequest open =
          new Messages.PutRequest(Messages.Keys.of(space, asked), sliceBytes(), windowBlocks(), tickets.incrementAndGet());
      Flux<Payload> up = SliceGate.of(rooms.asFlux(), window -> slices(source, window), framing,
          () -> request(Routes.PUT, open), new InFlight());
      return rsocket.requestChannel(up)
          .map(payload -> signalled(payload, asked, next, rooms)) // releases the payload before anything can drop it
          .concatMapIterable(receipts -> receipts, 4)
          .doOnTerminate(rooms::tryEmitComplete)
          .onErrorMap(this::failure);
    });
  }

  /// A window ends with its last slice, also if its source does not say so.
  private static Flux<LayerSlice> slices(PutSource source, PutWindow window) {
    return source.window(window).takeUntil(slice -> slice.place().remaining() == 0);
  }

  private List<Receipt> signalled(Payload payload, List<BlockKey> keys, NextRoom next, Sinks.Many<PutWindow> rooms) {
    Messages.PutSignal signal = read(payload, Messages.PutSignal.class);
    if (signal.room() != null) {
      next.require(signal.room());
      PutWindow window = window(signal.room(), keys);
      if (!window.keys().isEmpty()) {
        offer(window, rooms);
      }
    }
    return signal.stored() == null ? List.of() : signal.stored().stream().map(stored -> stored.receipt(keys)).toList();
  }

  /// Windows come one after the other and cover the keys in order: each once.
  private static final class NextRoom {
    private int window;
    private int first;

    void require(Messages.Room room) {
      if (room.window() != window || room.first() != first) {
        throw WireFormatException.request("room", "window " + window + " from key " + first, room.window() + " from " + room.first());
      }
      window++;
      first += room.wanted().size();
    }
  }

  private static void offer(PutWindow window, Sinks.Many<PutWindow> rooms) {
    Sinks.EmitResult result = rooms.tryEmitNext(window);
    if (result != Sinks.EmitResult.FAIL_CANCELLED && result != Sinks.EmitResult.FAIL_TERMINATED) { // else the slices have failed
      result.orThrow();
    }
  }

  private PutWindow window(Messages.Room room, List<BlockKey> keys) {
    room.requireIn(keys.size(), windowBlocks());
    List<Integer> positions = new ArrayList<>();
    List<BlockKey> wanted = new ArrayList<>();
    room.wanted().presence().bits().stream().forEach(i -> {
      positions.add(room.first() + i);
      wanted.add(keys.get(room.first() + i));
    });
    return new PutWindow(room.window(), positions, wanted, sliceBytes());
  }

  /// Completes when the node holds nothing any more of the stream that was opened with `ticket`.
  private Mono<Void> drain(long ticket) {
    return ask(Routes.DRAIN, new Messages.DrainRequest(ticket), Messages.DrainReply.class).then();
  }

  /// Drops the connection; calls under way fail with [ConnectionLostException]. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      connection.end(rsocket);
      return rsocket.onClose().onErrorResume(error -> Mono.empty());
    });
  }

  /// Completes when the connection is gone, for whatever reason.
  public Mono<Void> onClose() {
    return rsocket.onClose().onErrorResume(error -> Mono.empty());
  }

  private List<BlockKey> checked(List<BlockKey> keys) {
    List<BlockKey> copy = List.copyOf(keys);
    for (BlockKey key : copy) { // only hashes travel: a key of another space would name another block
      if (!key.space().equals(space)) {
        throw new IllegalArgumentException("key must be of space " + space + " (was " + key + ")");
      }
    }
    if (new HashSet<>(copy).size() < copy.size()) {
      throw new IllegalArgumentException("keys must be distinct (was " + copy.size() + " keys with duplicates)");
    }
    return copy;
  }

  private Messages.KeysRequest keys(List<BlockKey> keys) {
    return new Messages.KeysRequest(Messages.Keys.of(space, keys));
  }

  private int sliceBytes() {
    return Math.min(options.maxSliceBytes(), welcome.maxSliceBytes());
  }

  private int windowBlocks() {
    return (int) Math.min(Math.min(options.windowBlocks(), welcome.windowBlocks()), arena.capacitySlots());
  }

  private <T> Mono<T> ask(String route, Object message, Class<T> reply) {
    return call(rsocket, route, message, reply).onErrorMap(this::failure);
  }

  private Throwable failure(Throwable error) {
    Throwable told = WireErrors.fromWire(error, peer);
    if (told instanceof ConnectionLostException) {
      connection.end(rsocket);
    }
    return told;
  }

  private static <T> Mono<T> call(RSocket rsocket, String route, Object message, Class<T> reply) {
    return Mono.defer(() -> rsocket.requestResponse(request(route, message))).map(payload -> read(payload, reply));
  }

  private static <T> T read(Payload payload, Class<T> type) {
    try {
      return CODEC.decode(payload.sliceData(), type);
    } finally {
      payload.release();
    }
  }

  private static Payload request(String route, Object message) {
    ByteBufAllocator allocator = ByteBufAllocator.DEFAULT;
    ByteBuf data = CODEC.encode(message, allocator);
    return ByteBufPayload.create(data, RequestMetadata.write(route, allocator));
  }
}
