package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.HostTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/// The end of each stream that began is reported.
@Timeout(60)
final class StreamReportsTest {
  private static final CacheSpace SPACE =
      CacheSpace.of("reports", BlockLayout.attention(1, 16, 1, 16, ElementType.BF16));
  private static final List<BlockKey> KEYS = Blocks.keys(SPACE, 0, 2);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final SimulatedTime time = new SimulatedTime(5);
  private final SimulatedTime.CapturedDefaults defaults = time.captureDefaults();
  private final HostTier stored = new HostTier(SPACE, 4, TierListener.noop());
  private final MuteTier tier = new MuteTier(stored);
  private final SlabArena arena = new SlabArena("client", SPACE.layout(), 4, 8);
  private final List<StreamListener.Report> reports = new ArrayList<>();
  private final KvServer server;
  private final KvClient client;

  StreamReportsTest() {
    SimulatedLink link = new SimulatedLink(time, "link", UnpooledByteBufAllocator.DEFAULT,
        number -> LinkPlan.quiet(), event -> {});
    server = now(KvServer.bind(link.server(), tier, KvServerOptions.builder().streams(reports::add).build(),
        new ByteBudget("node", 1 << 20, 64), time.scheduler()));
    client = now(KvClient.connect(link.client(), KvClientOptions.builder().maxSliceBytes(4096).build(), SPACE, arena,
        new ByteBudget("client", 1 << 20, 64)));
  }

  @AfterEach
  void close() {
    now(client.close().then(server.close()).then(stored.close()).thenReturn(true));
    defaults.close();
    arena.close();
  }

  private <T> T now(Mono<T> work) {
    CompletableFuture<T> result = work.toFuture();
    assertThat(time.runUntil(result::isDone, PATIENCE)).isTrue();
    return result.join();
  }

  @Test
  void getThatIsCancelledBeforeItsLease_hasAnEnd() {
    try (BlockScope scope = new BlockScope()) {
      Disposable get = client.lease(KEYS, OnMiss.SKIP, scope).subscribe();
      assertThat(time.runUntil(() -> tier.asked == 1, PATIENCE)).isTrue();
      get.dispose();
      assertThat(time.runUntil(() -> reports.size() == 1, PATIENCE)).as("it was told of the end").isTrue();
      assertThat(reports.getFirst().failure()).isNull();
    }
  }

  @Test
  void getWhoseLeaseFails_hasAnEnd_withItsError() {
    tier.isMute = false;
    now(stored.close().thenReturn(true));
    try (BlockScope scope = new BlockScope()) {
      CompletableFuture<?> get = client.lease(KEYS, OnMiss.SKIP, scope).toFuture();
      assertThat(time.runUntil(get::isDone, PATIENCE)).isTrue();
      assertThat(get).isCompletedExceptionally();
      assertThat(reports).singleElement().extracting(StreamListener.Report::failure).isNotNull();
    }
  }
}
