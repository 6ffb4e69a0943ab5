package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.SharedMap;
import io.penstock.cluster.directory.SharedMapContract;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.infinispan.configuration.cache.StorageType;
import org.jgroups.JChannel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

final class DistributedMapTest extends SharedMapContract {
  private static final List<EmbeddedCaches> CACHES = new ArrayList<>();
  private static final List<MemberThreads> THREADS = new ArrayList<>();
  private static final List<DistributedMap> MAPS = new ArrayList<>();

  @BeforeAll
  static void form() throws IOException {
    int port = TestMember.freePort();
    for (int i = 0; i < 2; i++) {
      List<Seed> seeds = i == 0 ? List.of() : List.of(new Seed("localhost", port));
      JChannel channel = new ChannelPlan(BoundHost.of("127.0.0.1"), i == 0 ? port : TestMember.freePort(), seeds,
          InetAddress::getAllByName, null, ChannelTimes.DEFAULTS).channel("map" + i);
      EmbeddedCaches caches = EmbeddedCaches.join(channel, "contract", "map" + i, StorageType.OFF_HEAP);
      MemberThreads threads = MemberThreads.start();
      CACHES.add(caches);
      THREADS.add(threads);
      MAPS.add(new DistributedMap(caches.blocks(), Flux.never(), threads.waiting(), threads.sweeper(),
          Schedulers.single()));
    }
  }

  @AfterAll
  static void end() {
    CACHES.reversed().forEach(EmbeddedCaches::close);
    THREADS.forEach(MemberThreads::end);
  }

  @Override
  protected List<? extends SharedMap> maps() {
    return MAPS;
  }

  @Override
  protected <T> T run(Mono<T> call) {
    return call.block();
  }
}
