package io.penstock.examples.disaggregated.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Side;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.publisher.TestPublisher;

final class RankServersTest {
  @Test
  void aRefusedRank_endsItsOwnHeartbeatsAlone() {
    Manifest manifest =
        Manifest.of("m", BlockLayout.attention(1, 16, 2, 8, ElementType.BF16), Parallelism.ofTp(2));
    List<Registration> ranks = IntStream.range(0, 2).mapToObj(rank -> new Registration(Side.PREFILL,
        new RankId("p", rank).since(1), 1, manifest, new Endpoint("h", 1))).toList();
    TestPublisher<InstanceView> refused = TestPublisher.create();
    TestPublisher<InstanceView> stays = TestPublisher.create();
    var all = RankServers.staying(ranks, rank -> Flux.from(rank.equals(ranks.getFirst()) ? refused : stays))
        .subscribe();
    refused.error(new IllegalStateException("generation must be >= 2 (was 1)"));
    stays.assertSubscribers(1);
    stays.assertNotCancelled();
    assertThat(all.isDisposed()).isFalse();
    all.dispose();
    stays.assertCancelled();
  }
}
