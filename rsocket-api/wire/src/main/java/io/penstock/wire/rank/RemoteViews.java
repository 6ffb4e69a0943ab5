package io.penstock.wire.rank;

import static java.util.Objects.requireNonNull;

import io.penstock.PenstockVersion;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.check.Checks;
import io.penstock.operator.InTurn;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.tier.spi.ViewLanding.Landed;
import io.penstock.tier.spi.ViewSource;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.link.FirstMessage;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.rsocket.transport.ClientTransport;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/// One connection to a node that asks for views of its blocks, which may have another layout than those here. Safe from
/// any thread.
public final class RemoteViews implements ViewSource {
  /// Fetches that may have been cancelled without a question whether they are over; a further one asks first.
  private static final int MOST_CANCELLED = 1024;

  private final NodeConnection connection;
  private final KvClientOptions options;
  private final Handshake.Welcome welcome;
  private final CacheSpace space;
  private final ViewReceiver.Setting setting;
  private final AtomicLong tickets = new AtomicLong();
  /// Tickets of fetches that ended before the node did.
  private final Set<Long> cancelled = ConcurrentHashMap.newKeySet();

  private RemoteViews(NodeConnection connection, KvClientOptions options, Handshake.Welcome welcome, CacheSpace space,
      ByteBudget budget) {
    this.connection = connection;
    this.options = options;
    this.welcome = welcome;
    this.space = space;
    this.setting = new ViewReceiver.Setting(space, Budget.of(budget.permits()), sliceBytes(), options.creditSlices(),
        connection.transport().answers(), connection.peer(), connection::failure);
  }

  /// Connects, and learns what the node's blocks look like.
  ///
  /// @param space of the blocks here; the node's must be of the same model, and may differ in tokens a block, axis
  ///     order, and in which layers and heads a block holds
  /// @param budget limits the bytes in flight
  /// @return a cold `Mono`; signals [ConnectionLostException], `RemotePermanentException` or `WireFormatException` with
  ///     `ErrorCode.SPACE_MISMATCH` naming the field that differs, or with `ErrorCode.VERSION_MISMATCH` if the node
  ///     knows no views
  public static Mono<RemoteViews> connect(ClientTransport transport, KvClientOptions options, CacheSpace space,
      ByteBudget budget) {
    requireNonNull(transport, "transport");
    if (budget.capacityBytes() < options.maxSliceBytes()) {
      throw new IllegalArgumentException(
          "budget must be >= maxSliceBytes " + options.maxSliceBytes() + " (was " + budget.capacityBytes() + ")");
    }
    Handshake.Hello hello = new Handshake.Hello(List.of(Routes.VERSION), Handshake.Space.of(space),
        options.name() + " " + PenstockVersion.current(), null, List.of(Handshake.VIEWS));
    Mono<RemoteViews> connecting = FirstMessage.encoded(Routes.HELLO, hello,
        first -> NodeConnection.open(transport, options.link(), "the node")
            .flatMap(connection -> opened(connection, first, options, space, budget)
                .doOnError(error -> connection.end()).doOnCancel(connection::end)));
    return NodeConnection.limited(connecting, transport, options.link(), "the node");
  }

  private static Mono<RemoteViews> opened(NodeConnection connection, FirstMessage hello, KvClientOptions options,
      CacheSpace mine, ByteBudget budget) {
    return connection.ask(hello, Handshake.Welcome.class)
        .map(welcome -> new RemoteViews(connection.named("node " + welcome.node()), options, welcome,
            welcome.requireViewsFor(mine), budget));
  }

  /// Name the node gave itself.
  public String node() {
    return welcome.node();
  }

  /// Generation of the node as a rank, else the number of this start of it; 0 if it reports neither.
  @Override
  public long generation() {
    Long rank = welcome.rankGeneration();
    if (rank != null) {
      return rank;
    }
    return welcome.generation() == null ? 0 : welcome.generation();
  }

  @Override
  public CacheSpace space() {
    return space;
  }

  @Override
  public Flux<Landed> fetch(List<BlockKey> keys, OnMiss onMiss, ViewLanding landing) {
    return Flux.defer(() -> {
      Flux<Landed> fetch = fetch(keys, onMiss, landing, tickets.incrementAndGet());
      return cancelled.size() < MOST_CANCELLED ? fetch : InTurn.of(drained(), fetch);
    });
  }

  /// @param ticket positive, unused on this connection
  private Flux<Landed> fetch(List<BlockKey> keys, OnMiss onMiss, ViewLanding landing, long ticket) {
    if (keys.isEmpty()) {
      return Flux.empty();
    } else if (onMiss == OnMiss.ADMIT) {
      throw new IllegalArgumentException("onMiss must be SKIP or AWAIT for a view (was " + onMiss + ")");
    }
    List<BlockKey> asked = BlockKey.distinct(keys, space.id());
    Messages.GetRequest request = new Messages.GetRequest(Messages.Keys.of(asked), onMiss.name(),
        options.order().name(), 0, setting.maxSliceBytes(), Math.min(options.windowBlocks(), welcome.windowBlocks()),
        Checks.positive("ticket", ticket), null, null, null, Messages.View.of(landing.view(), space.layout()),
        landing.request().orElse(null));
    return Flux.<Landed>from(subscriber -> {
      ViewReceiver receiver =
          new ViewReceiver(Operators.toCoreSubscriber(subscriber), setting, asked, onMiss, landing);
      subscriber.onSubscribe(receiver);
      connection.rsocket().requestStream(NodeConnection.request(Routes.GET, request)).subscribe(receiver);
    }).doOnCancel(() -> cancelled.add(ticket)).doOnError(error -> cancelled.add(ticket));
  }

  /// Asks the node about each fetch that was cancelled or has failed. Its answers come on the thread on which slices
  /// land, so no slice of these fetches is being written any more.
  @Override
  public Mono<Void> drained() {
    return Flux.defer(() -> Flux.fromIterable(List.copyOf(cancelled))).concatMap(this::drained, 0).then()
        .onErrorResume(ConnectionLostException.class, e -> Mono.fromRunnable(cancelled::clear));
  }

  private Mono<Void> drained(long ticket) {
    return connection.ask(Routes.DRAIN, new Messages.DrainRequest(ticket), Messages.DrainReply.class)
        .doOnNext(reply -> cancelled.remove(ticket)).then();
  }

  /// Drops the connection; fetches under way fail with [ConnectionLostException]. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      connection.end();
      return connection.onClose();
    });
  }

  /// Completes when the connection is gone, for any reason.
  public Mono<Void> onClose() {
    return connection.onClose();
  }

  private int sliceBytes() {
    return Math.min(options.maxSliceBytes(), welcome.maxSliceBytes());
  }
}
