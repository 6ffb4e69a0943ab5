package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.tier.OnMiss;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.report.StreamListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;

/// A client tells of each get and put that ended.
@Timeout(60)
final class ClientStreamsTest {
  private static final CacheSpace SPACE =
      CacheSpace.of("client-streams", BlockLayout.attention(2, 16, 2, 64, ElementType.BF16));
  private static final int WINDOW = 4;

  private final List<StreamListener.Report> reports = new CopyOnWriteArrayList<>();

  @Test
  void getsAndPuts_areToldWithTheirBytes_andTimed() {
    try (WireNode node = WireNode.of(Link.PENSTOCK, SPACE, WINDOW)) {
      KvClient client =
          node.client(WireNode.asking(WINDOW).streams(reports::add).build(), node.arena(64), node.budget(16));

      List<BlockKey> keys = node.stored(client, 6);
      long bytes = 6L * SPACE.layout().blockBytes();
      assertThat(node.get(client, keys, OnMiss.SKIP).block(WireNode.PATIENCE)).isEqualTo(bytes);

      assertThat(reports).extracting(StreamListener.Report::route).containsExactly("put", "get");
      assertThat(reports).extracting(StreamListener.Report::isOutgoing).containsExactly(true, false);
      assertThat(reports).allSatisfy(report -> {
        assertThat(report.bytes()).isEqualTo(bytes);
        assertThat(report.transport()).isEqualTo("tcp");
        assertThat(report.nanos()).isPositive();
        assertThat(report.failure()).isNull();
      });
    }
  }

  @Test
  void getThatFails_isToldWithItsCode_andOneThatIsCancelledIsNoFailure() {
    try (WireNode node = WireNode.of(Link.PENSTOCK, SPACE, WINDOW)) {
      KvClient client =
          node.client(WireNode.asking(WINDOW).streams(reports::add).build(), node.arena(64), node.budget(16));
      List<BlockKey> keys = node.stored(client, 6);

      Flux.using(BlockScope::new, scope -> client.lease(keys, OnMiss.SKIP, scope)
          .flatMapMany(lease -> lease.slices(scope)).doOnNext(slice -> slice.close()), BlockScope::close)
          .take(1).blockLast(WireNode.PATIENCE);
      assertThat(node.get(client, node.keys(0, 300), OnMiss.SKIP).materialize().block(WireNode.PATIENCE))
          .satisfies(end -> assertThat(end.getThrowable()).isInstanceOf(RemotePermanentException.class));

      // the put may be told a moment after its last receipt
      assertThat(reports).filteredOn(report -> report.route().equals("get"))
          .extracting(StreamListener.Report::failure).containsExactly(null, ErrorCode.LIMIT_EXCEEDED);
    }
  }
}
