package io.penstock.wire.client;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SpaceId;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.budget.Permits;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.client.get.GetSetting;
import io.penstock.wire.client.get.Gets;
import io.penstock.wire.client.get.PeerBlock;
import io.penstock.wire.client.get.RemoteLease;
import io.penstock.wire.client.get.ShortTurns;
import io.penstock.wire.client.link.ClientCarriers;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.client.put.Puts;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.report.CarriedBytes;
import io.penstock.wire.report.CarriedCount;
import io.penstock.wire.slice.SliceFraming;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// One connection to a node, protocol version 1.
///
/// Safe from any thread: threads share one client, and their gets, puts and look-ups run side by side over its
/// connection. A call needs no lock around it. Its signals come one at a time, on the event loop of the connection, on
/// the thread of the read ring if it went through that, or on the caller's thread if they are known at once. Neither of
/// the first two may block. Each lease has one reader and each scope one owner: share the
/// client, not those. A connection has one event loop: threads that move more than one core copies take several
/// clients.
///
/// The arena and the budget are the caller's; several clients may share them, and all calls of a client do.
public final class KvClient {
  private final NodeConnection connection;
  private final SpaceId space;
  private final BlockArena arena;
  private final Handshake.Welcome welcome;
  private final ClientCarriers carriers;
  private final LookUps lookUps;
  private final Questions questions;
  private final Gets gets;
  private final Puts puts;
  private final CarriedCount in = new CarriedCount();
  private final CarriedCount out = new CarriedCount();

  KvClient(NodeConnection connection, ClientConnector made, Handshake.Welcome welcome) {
    KvClientOptions options = made.options();
    int sliceBytes = Math.min(options.maxSliceBytes(), welcome.maxSliceBytes());
    int windowBlocks = (int) Math.min(Math.min(options.windowBlocks(), welcome.windowBlocks()),
        made.arena().capacitySlots());
    AtomicLong tickets = new AtomicLong();
    this.connection = connection;
    this.space = made.space().id();
    this.arena = made.arena();
    this.welcome = welcome;
    this.carriers = ClientCarriers.agreed(options.carriers(), connection.transport().peerProcess(), welcome.carriers());
    this.lookUps = new LookUps(connection, space, welcome.maxKeys(), connection.transport().loop());
    this.questions = new Questions(connection, space, lookUps);
    this.gets = new Gets(connection, carriers,
        new GetSetting(arena, space, made.budget().permits(), sliceBytes, windowBlocks, options.creditSlices(),
            options.startLayer(), options.order(), OnMiss.SKIP, NodeConnection.CODEC,
            connection.transport().answers(), connection.peer(), connection::failure),
        welcome.answersShortGets() ? new ShortTurns() : null, tickets, in);
    this.puts = new Puts(connection,
        new SliceFraming(space, made.space().layout(), ByteBufAllocator.DEFAULT, carriers.sender(), out, sliceBytes,
            welcome.takesGranuleChecksums(),
            Budget.of(new Permits("send window", options.sendWindowBytes(), 1024))),
        windowBlocks, welcome.maxKeys(), tickets);
    connection.onClose().doFinally(end -> carriers.close()).subscribe();
  }

  /// Connects and agrees on version, space and limits.
  ///
  /// @param space whose blocks are exchanged; a difference from the server's is refused, naming the field
  /// @param arena where fetched blocks land
  /// @param budget limits the bytes in flight towards the arena
  /// @return a cold `Mono`; signals `ConnectionLostException`, `RemotePermanentException` with
  ///     `ErrorCode.SPACE_MISMATCH` or `ErrorCode.VERSION_MISMATCH`, `RemoteTransientException`,
  ///     `CarrierUnavailableException`
  public static Mono<KvClient> connect(ClientTransport transport, KvClientOptions options, CacheSpace space,
      BlockArena arena, ByteBudget budget) {
    return new ClientConnector(options, space, arena, budget).connect(transport);
  }

  /// Connects by the best transport that both have: a client on the node's host switches to its Unix domain socket.
  ///
  /// The node reports its addresses. Its socket's file proves that it is on this host, because it can be opened here,
  /// and so does the node behind it, which is this start of this node; no name counts. If one of these fails, the first
  /// connection stays. [KvClientOptions#connectTimeout] limits both together.
  ///
  /// @param transports makes a client of a place
  public static Mono<Reached> connectBest(Endpoint node, Function<Endpoint, ClientTransport> transports,
      KvClientOptions options, CacheSpace space, BlockArena arena, ByteBudget budget) {
    return new ClientConnector(options, space, arena, budget).connectBest(node, transports);
  }

  /// A client, and where it reached its node.
  public record Reached(KvClient client, Endpoint place) {}

  /// Present content and work of a node and each of its spaces, asked over a connection of its own that names no space.
  ///
  /// @return a cold `Mono`; each subscription connects, asks once and ends the connection; signals errors of [#connect]
  public static Mono<ServerStat> statOf(ClientTransport transport, KvClientOptions options) {
    return ClientConnector.statOf(transport, options);
  }

  /// The tasks of a node, asked over a connection of its own that names no space.
  ///
  /// @return as [#membersOf]
  public static Mono<List<ClusterTask>> tasksOf(ClientTransport transport, KvClientOptions options) {
    return ClientConnector.askedOf(transport, options, Questions::tasks);
  }

  /// Starts a task at a node, over a connection of its own that names no space.
  ///
  /// @return as [#membersOf]; each subscription starts one
  public static Mono<ClusterTask> startAt(ClientTransport transport, KvClientOptions options, TaskOrder order) {
    return ClientConnector.askedOf(transport, options, connection -> Questions.start(connection, order));
  }

  /// Ends a task of a node, over a connection of its own that names no space.
  ///
  /// @return as [#membersOf]; false if it does not run there
  public static Mono<Boolean> cancelAt(ClientTransport transport, KvClientOptions options, String id) {
    return ClientConnector.askedOf(transport, options, connection -> Questions.cancel(connection, id));
  }

  /// The members of a node's cluster, asked over a connection of its own that names no space.
  ///
  /// @return a cold `Mono`; each subscription connects, asks once and ends the connection; signals errors of [#connect]
  ///     and of [#members]
  public static Mono<ClusterView> membersOf(ClientTransport transport, KvClientOptions options) {
    return ClientConnector.askedOf(transport, options, Questions::members);
  }

  NodeConnection connection() {
    return connection;
  }

  ClientCarriers carriers() {
    return carriers;
  }

  /// Token of the node's host; null if the node does not tell.
  @Nullable String host() {
    return welcome.host();
  }

  /// Endpoints at which the node can be reached from here, its preferred transport first; empty if it reports none.
  public List<Endpoint> endpoints() {
    return welcome.places();
  }

  /// Name the node gave itself.
  public String node() {
    return welcome.node();
  }

  /// Name of the tier behind the node.
  public String tier() {
    return welcome.tier();
  }

  /// Maximum number of blocks of the tier behind the node; `Long.MAX_VALUE` if it did not report it.
  public long capacityBlocks() {
    return welcome.capacityBlocks() == null ? Long.MAX_VALUE : welcome.capacityBlocks();
  }

  /// Penstock version of the node.
  public String serverVersion() {
    return welcome.server();
  }

  /// Number of this start of the node; 0 if the node does not report it.
  public long generation() {
    return welcome.generation() == null ? 0 : welcome.generation();
  }

  /// Carrier of slices from the node, if its blocks lie in memory for it.
  public Carrier incomingCarrier() {
    return carriers.incoming();
  }

  /// Carrier of slices to the node, if the blocks of a put lie in memory for it.
  public Carrier outgoingCarrier() {
    return carriers.outgoing();
  }

  /// Bytes of blocks moved so far, by carrier: the negotiated carrier need not have carried each of them.
  public CarriedBytes carried() {
    return new CarriedBytes(in.byCarrier(), out.byCarrier());
  }

  /// Transport of its frames: a word of [io.penstock.wire.transport.TransportKind].
  public String transport() {
    return connection.transport().word();
  }

  /// Arena in which fetched blocks land.
  public BlockArena arena() {
    return arena;
  }

  /// Length of the longest prefix of `keys` that the node has, without counting as a use.
  public Mono<Integer> match(List<BlockKey> keys) {
    return questions.match(keys);
  }

  /// Keys that the node has, without counting as a use. Small look-ups that are made in one turn of the event loop go
  /// as one request.
  public Mono<Presence> contains(List<BlockKey> keys) {
    return questions.contains(keys);
  }

  /// Keys that the node has, with at least `durability`; see [io.penstock.tier.BlockTier#contains(List, Durability)].
  public Mono<Presence> contains(List<BlockKey> keys, Durability durability) {
    return questions.contains(keys, durability);
  }

  /// Removes `keys` and reports which were there.
  public Mono<Presence> remove(List<BlockKey> keys) {
    return questions.remove(keys);
  }

  /// Present content and work of the node.
  ///
  /// @return a cold `Mono`; each subscription asks once
  public Mono<ServerStat> stat() {
    return questions.stat();
  }

  /// The members of the node's cluster, as the node knows them. Signals
  /// [io.penstock.wire.protocol.WireFailure.RemotePermanentException] with `ErrorCode.UNKNOWN_ROUTE` from a node that
  /// is in no cluster.
  public Mono<ClusterView> members() {
    return questions.members();
  }

  /// Members of the node's cluster that say that they have the blocks of `keys`.
  public Mono<Located> locate(List<BlockKey> keys) {
    return questions.locate(keys);
  }

  /// Emits the events of the node's tier with numbers above `sequence`: first those of its log, then later ones.
  public Flux<TierEvent> events(long sequence) {
    return questions.events(sequence, null);
  }

  /// Events, if the node's [#generation()] is still `generation`; else the node refuses.
  public Flux<TierEvent> events(long sequence, long generation) {
    return questions.events(sequence, generation);
  }

  /// The visible blocks of the node with their levels, then later events, as [io.penstock.tier.BlockTier#follow].
  public Flux<TierEvent> follow() {
    return questions.follow();
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
    return gets.lease(keys, onMiss, null, scope);
  }

  /// The same for a session. A node of an earlier release leases as for none.
  ///
  /// @param session of the request; null for none
  public Mono<RemoteLease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable SessionUse session, BlockScope scope) {
    return gets.lease(keys, onMiss, null, session, scope);
  }

  /// Says in which state a session is; needs the right to write.
  ///
  /// @return whether the node knows the session; false also from a node of an earlier release, or one whose policy is
  ///     not `sessions`
  public Mono<Boolean> session(SessionUse session, SessionState state) {
    return questions.session(session, state);
  }

  /// Keys of the visible blocks of a session, in pages; see [io.penstock.tier.BlockTier#sessionKeys].
  public Mono<SessionPage> sessionKeys(SessionId session, @Nullable BlockKey after, int most) {
    return questions.sessionKeys(session, after, most);
  }

  /// Matches `keys`, and waits up to `patience`, as far as the node lets a request wait, for those right behind the
  /// prefix that are being written: the next turn of a conversation often asks before the last one is stored.
  ///
  /// @param session of the request; null for none
  public Mono<Matched> match(List<BlockKey> keys, @Nullable SessionUse session, Duration patience) {
    return questions.pending(keys, session, patience);
  }

  /// What a node has of the keys of a request.
  ///
  /// @param prefix length of the longest prefix that is there
  /// @param pending keys right behind it that are there or still being written; 0 from a node of an earlier release
  public record Matched(int prefix, int pending) {}

  /// Leases the block of `key` where it lies in the memory of the node, for reads without a copy.
  ///
  /// @param scope owns the handle
  /// @return a cold `Mono`; empty if the node does not have the block where this process can read it: a lease gets it
  ///     then, if it is anywhere; signals `CarrierUnavailableException` without a read ring, or if the ring has ended
  public Mono<PeerBlock> borrow(BlockKey key, BlockScope scope) {
    return gets.borrow(key, scope);
  }

  /// Whether gets may go through a read ring: false also once it has ended.
  public boolean hasRing() {
    return carriers.ring() != null;
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
  /// | signals | those of `source`, `ConnectionLostException`, `RemoteTransientException`, `RemotePermanentException` |
  ///
  /// @param source asked to begin, then for each window when there is room for it
  public Flux<Receipt> put(List<BlockKey> keys, PutSource source) {
    return puts.put(keys, PutTerms.plain(), source);
  }

  /// Puts blocks that get a pin or a group when they become visible, or that go with their token ids.
  ///
  /// @param terms if there are tokens, then of every key, and as many as a block of the space has; else
  ///     `IllegalArgumentException` at call time, or a refusal by the node
  public Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, PutSource source) {
    return puts.put(keys, terms, source);
  }

  /// The read leases, pins and removals of this connection.
  public TierHolds holds() {
    return new RemoteHolds(connection, space, gets);
  }

  /// Drops the connection; calls under way fail with `ConnectionLostException`. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      connection.end();
      return connection.onClose();
    });
  }

  /// Whether the connection stands, as far as this side knows.
  public boolean isOpen() {
    return !connection.rsocket().isDisposed();
  }

  /// Completes when the connection is gone, for any reason.
  public Mono<Void> onClose() {
    return connection.onClose();
  }

  /// Look-ups that have not been sent.
  int waitingLookUps() {
    return lookUps.waiting();
  }

  /// Requests that have not ended, of those to which the node owes answers.
  public int unanswered() {
    return connection.transport().answers().pending();
  }
}
