package io.penstock.wire.cluster.tier;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import io.penstock.wire.transport.Endpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/// Connections to one member over a simulated link, in virtual time.
@Timeout(60)
final class PeersTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final Member B = member("127.0.0.1:2");

  private final SimulatedTime time = new SimulatedTime(5);
  private final SimulatedTime.CapturedDefaults defaults = time.captureDefaults();
  private final SimulatedLink link =
      SimulatedLink.of(time, "b", UnpooledByteBufAllocator.DEFAULT, LinkPlan.quiet());
  private final HostTier tier = new HostTier(SPACE, 16, TierListener.noop());
  private final KvServer server = now(KvServer.bind(link.server(), tier,
      KvServerOptions.builder().generation(1).build(), new ByteBudget("b", 1 << 20, 64), time.scheduler()));
  private final SlabArena arena = new SlabArena("client", SPACE.layout(), 16, 16);
  private final List<String> asked = new ArrayList<>();
  private final Peers peers = new Peers(this::connect, SPACE, time.scheduler(), new Random(1));

  private static Member member(String... endpoints) {
    return new Member("b", 1, List.of(endpoints), "", Member.State.UP, Member.Figures.NONE);
  }

  /// Port 2 is the member; at no other one is anything.
  private Mono<KvClient> connect(Endpoint place) {
    asked.add(place.toString());
    return place.toString().endsWith(":2")
        ? KvClient.connect(link.client(), KvClientOptions.builder().windowBlocks(4).build(), SPACE, arena,
            new ByteBudget("client", 1 << 20, 64))
        : Mono.error(new TransientKvException("nothing at " + place));
  }

  private <T> T now(Mono<T> mono) {
    CompletableFuture<T> done = mono.toFuture();
    assertThat(time.runUntil(done::isDone, Duration.ofMinutes(1))).as("it ends").isTrue();
    return done.join();
  }

  private @Nullable Throwable failure(Mono<?> mono) {
    return now(mono.materialize()).getThrowable();
  }

  @AfterEach
  void close() {
    peers.close().subscribe();
    server.close().subscribe();
    time.advance(Duration.ofSeconds(5));
    tier.close().block();
    assertThat(arena.claimedSlots()).isZero();
    arena.close();
    defaults.close();
  }

  @Test
  void anEndpointOfAnUnknownForm_isSkipped_andTheNextIsAsked() {
    BlockTier node = now(peers.node(member("quic://127.0.0.1:1", "127.0.0.1:3", "127.0.0.1:2")));
    assertThat(now(node.stat()).blocks()).isZero();
    assertThat(asked).containsExactly("127.0.0.1:3", "127.0.0.1:2");
  }

  @Test
  void aMemberThatCannotBeReached_isAFailureThatPasses_whateverItsEndpointsAre() {
    assertThat(failure(peers.node(member("127.0.0.1:3", "quic://127.0.0.1:1"))))
        .satisfies(gone -> assertThat(Asked.isPassedOver(requireNonNull(gone))).isTrue())
        .hasMessage("nothing at 127.0.0.1:3");
    Member unknown = new Member("c", 1, List.of("quic://127.0.0.1:1"), "", Member.State.UP, Member.Figures.NONE);
    assertThat(failure(peers.node(unknown)))
        .satisfies(gone -> assertThat(Asked.isPassedOver(requireNonNull(gone))).isTrue())
        .hasMessage("member c must tell an endpoint of a form that is known here (tells [quic://127.0.0.1:1])");
  }

  @Test
  void aMember_thatAViewLacks_keepsItsConnection_untilSeveralViewsLackItForAWhile() {
    BlockTier node = now(peers.node(B));
    for (int view = 0; view < 5; view++) {
      peers.keep(List.of());
    }
    time.advance(Duration.ofSeconds(5));
    peers.keep(List.of(B));
    peers.keep(List.of());
    assertThat(now(node.stat()).blocks()).isZero();

    time.advance(Duration.ofSeconds(5));
    peers.keep(List.of());
    assertThat(now(node.stat()).blocks()).isZero();
    peers.keep(List.of());
    time.advance(Duration.ofSeconds(1));
    assertThat(failure(node.stat())).isInstanceOf(TransientKvException.class);

    assertThat(now(now(peers.node(B)).stat()).blocks()).as("a later view told it again").isZero();
  }

  @Test
  void aConnection_onWhichWorkRuns_staysUntilThatHasEnded() {
    BlockTier node = now(peers.node(B));
    List<BlockKey> keys = Blocks.keys(SPACE, 0, 1);
    put(keys);
    try (BlockScope scope = new BlockScope()) {
      Lease lease = now(node.lease(keys, OnMiss.SKIP, scope));
      for (int view = 0; view < 8; view++) {
        peers.keep(List.of());
        time.advance(Duration.ofSeconds(1));
      }
      assertThat(now(lease.windows(1, scope).doOnNext(window -> window.forEach(leased -> leased.block().close()))
          .count())).isOne();
    }
    time.advance(Duration.ofSeconds(1));
    peers.keep(List.of());
    time.advance(Duration.ofSeconds(1));
    assertThat(failure(node.stat())).isInstanceOf(TransientKvException.class);
  }

  private void put(List<BlockKey> keys) {
    try (SlabArena made = new SlabArena("made", SPACE.layout(), 1, 1); BlockScope scope = new BlockScope()) {
      tier.put(keys, SliceShape.defaults(), PutSource.of(
          List.of(scope.adopt(Blocks.block(made, keys.getFirst()))), SliceShape.Order.LAYER_FIRST))
          .blockLast();
    }
  }

  @Test
  void afterTheEnd_aMemberCannotBeReached_andThatPassesOver() {
    peers.close().subscribe();
    assertThat(failure(peers.node(B))).satisfies(gone -> assertThat(Asked.isPassedOver(requireNonNull(gone))).isTrue());
  }
}
