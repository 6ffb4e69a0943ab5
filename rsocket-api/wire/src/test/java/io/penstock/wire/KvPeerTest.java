package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.stack.HostTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierListener;
import io.penstock.wire.transport.AdvertisedEndpoints;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.LocalTransport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A node of this process that goes and comes back, and a client that lasts longer than its connections.
@Timeout(60)
final class KvPeerTest {
  private static final String NAME = "KvPeerTest";
  private static final CacheSpace SPACE = CacheSpace.of("peer", BlockLayout.attention(1, 1, 1, 16, ElementType.BF16));
  private static final Duration PATIENCE = WireNode.PATIENCE;

  private final LoopResources loops = LoopResources.create("peer", 1, 2, true);
  private final Scheduler timers = Schedulers.newSingle("timers", true);
  private final HostTier tier = new HostTier(SPACE, 4, TierListener.noop());
  private final SlabArena arena = new SlabArena("client", SPACE.layout(), 4, 4);
  private final KvPeer peer = KvPeer.of(client(), KvPeerOptions.defaults().withConnections(2)
      .withBackOff(Duration.ofMillis(1), Duration.ofMillis(20)), timers, new Random(5));
  private KvServer server;

  @BeforeEach
  void listen() {
    listen(1);
  }

  private void listen(long generation) {
    AdvertisedEndpoints told =
        new AdvertisedEndpoints(List.of(Endpoint.tcp("127.0.0.1", 7), Endpoint.unix(Path.of("/run/node"))), null);
    server = requireNonNull(KvServer.bind(
        LocalTransport.server(NAME, ConnectionLimits.defaults(), loops, ConnectionListener.noop()), tier,
        KvServerOptions.builder().endpoints(told).generation(generation).build(),
        new ByteBudget("ingress", 1 << 20, 4), timers).block(PATIENCE));
  }

  private Mono<KvClient> client() {
    return KvClient.connect(
        LocalTransport.client(NAME, ConnectionLimits.defaults(), loops, ConnectionListener.noop()),
        KvClientOptions.builder().maxSliceBytes(4096).build(), SPACE, arena, new ByteBudget("client", 1 << 20, 4));
  }

  @AfterEach
  void close() {
    peer.close().block(PATIENCE);
    server.close().block(PATIENCE);
    tier.close().block(PATIENCE);
    arena.close();
    timers.dispose();
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  private String ask() {
    return requireNonNull(peer.with(client -> client.stat().map(ServerStat::node)).blockLast(PATIENCE));
  }

  @Test
  void work_takesTheConnectionsInTurn() {
    assertThat(peer.connections()).isZero();
    assertThat(ask()).isEqualTo("penstock");
    assertThat(peer.connections()).isEqualTo(1);
    for (int i = 0; i < 5; i++) {
      ask();
    }
    assertThat(peer.connections()).isEqualTo(2);
    peer.close().block(PATIENCE);
    assertThat(peer.connections()).isZero();
  }

  @Test
  void nodeStartedAnewAtTheSamePlace_isNoticed_andWorkGoesOn() {
    ask();
    ask();
    server.close().block(PATIENCE);
    assertThatThrownBy(this::ask).isInstanceOf(ConnectionLostException.class);

    listen(2);
    String answer = Flux.defer(() -> peer.with(client -> client.stat().map(ServerStat::node)))
        .retryWhen(reactor.util.retry.Retry.fixedDelay(100, Duration.ofMillis(10)).scheduler(timers))
        .blockLast(PATIENCE);

    assertThat(answer).isEqualTo("penstock");
    assertThat(peer.restarts()).isEqualTo(1);
  }

  @Test
  void connection_thatDies_failsItsOwnWorkOnly() {
    Mono<String> streams = Flux.range(0, 2)
        .flatMap(i -> peer.with(client -> i == 0
            ? client.close().then(client.stat()).map(ServerStat::node).onErrorResume(e -> Mono.just("lost"))
            : Mono.delay(Duration.ofMillis(20), timers).then(client.stat()).map(ServerStat::node)))
        .sort().collectList().map(Object::toString);
    assertThat(streams.block(PATIENCE)).isEqualTo("[lost, penstock]");
  }

  @Test
  void welcome_tellsWhereElseTheNodeIs() {
    List<Endpoint> told = peer.with(client -> Mono.just(client.endpoints())).blockLast(PATIENCE);
    assertThat(told).containsExactly(Endpoint.tcp("127.0.0.1", 7), Endpoint.unix(Path.of("/run/node")));
  }
}
