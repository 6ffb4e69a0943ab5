package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.stack.HostTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.rank.RankViews;
import io.penstock.wire.rank.RemoteViews;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/// Connections to a rank whose network is gone for a time: over a simulated link, in virtual time.
@Timeout(60)
final class RankViewsTest {
  private static final CacheSpace SPACE = CacheSpace.of("m", BlockLayout.attention(1, 1, 1, 16, ElementType.BF16));
  private static final Incarnation RANK = new RankId("p", 0).since(7);
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final SimulatedTime time = new SimulatedTime(1);
  private final SimulatedLink link =
      SimulatedLink.of(time, "link", UnpooledByteBufAllocator.DEFAULT, LinkPlan.quiet());
  private final HostTier tier = new HostTier(SPACE, 4, TierListener.noop());
  private final List<Incarnation> gone = new ArrayList<>();
  private int attempts;
  private final RankViews views = new RankViews(rank -> Mono.fromSupplier(() -> {
    attempts++;
    return link.client();
  }), KvClientOptions.builder().maxSliceBytes(4096).build(), KvPeerOptions.defaults().withPatience(PATIENCE),
      new ByteBudget("decode", 1 << 20, 4), gone::add, time.scheduler(), new Random(1));

  private KvServer serve(long generation) {
    return now(KvServer.bind(link.server(), tier, KvServerOptions.builder().generation(generation).build(),
        new ByteBudget("node", 1 << 20, 4), time.scheduler()));
  }

  private <T> T now(Mono<T> mono) {
    CompletableFuture<T> done = mono.toFuture();
    assertThat(time.runUntil(done::isDone, Duration.ofMinutes(1))).as("it ends").isTrue();
    return done.join();
  }

  @Test
  void aNetworkThatComesBack_costsNoRequest() {
    try (var _ = time.captureDefaults()) {
      KvServer before = serve(7);
      RemoteViews first = now(views.of(RANK, SPACE));
      now(before.close());
      time.advance(Duration.ofMillis(100)); // the loss is known
      CompletableFuture<RemoteViews> wanted = views.of(RANK, SPACE).toFuture();
      time.advance(PATIENCE.minusSeconds(2));
      assertThat(attempts).as("attempts, with pauses that double").isBetween(5, 9);
      assertThat(gone).isEmpty();
      assertThat(wanted).as("waits meanwhile").isNotDone();
      KvServer after = serve(7);
      assertThat(time.runUntil(wanted::isDone, PATIENCE)).isTrue();
      assertThat(wanted.join()).isNotSameAs(first);
      assertThat(gone).isEmpty();
      now(views.close());
      now(after.close());
    }
  }

  @Test
  void aRankThatStaysAway_isGone_whenThePatienceIsOver() {
    try (var _ = time.captureDefaults()) {
      KvServer before = serve(7);
      now(views.of(RANK, SPACE));
      now(before.close());
      assertThat(gone).isEmpty();
      time.advance(PATIENCE.plusSeconds(1));
      assertThat(gone).containsExactly(RANK);
      int tried = attempts;
      time.advance(PATIENCE);
      assertThat(attempts).as("no further attempts").isEqualTo(tried);
      now(views.close());
    }
  }

  @Test
  void anotherStartOfTheRank_isKnownAtOnce() {
    try (var _ = time.captureDefaults()) {
      KvServer before = serve(7);
      now(views.of(RANK, SPACE));
      now(before.close());
      KvServer after = serve(8);
      assertThat(time.runUntil(() -> !gone.isEmpty(), Duration.ofSeconds(1))).as("gone").isTrue();
      assertThat(gone).containsExactly(RANK);
      now(views.close());
      now(after.close());
    }
  }
}
