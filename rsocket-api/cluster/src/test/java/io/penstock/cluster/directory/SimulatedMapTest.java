package io.penstock.cluster.directory;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

final class SimulatedMapTest extends SharedMapContract {
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private List<SimulatedCluster.Node> nodes = List.of();

  @BeforeEach
  void form() {
    SimulatedCluster cluster = new SimulatedCluster(time, new SplittableRandom(1));
    nodes = List.of(cluster.join("a"), cluster.join("b"), cluster.join("c"));
  }

  @AfterEach
  void end() {
    time.dispose();
  }

  @Override
  protected List<? extends SharedMap> maps() {
    return nodes;
  }

  @Override
  protected <T> T run(Mono<T> call) {
    CompletableFuture<T> result = call.toFuture();
    time.advanceTimeBy(Duration.ofSeconds(1));
    return result.join();
  }
}
