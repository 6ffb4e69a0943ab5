package io.penstock.device.sidecar.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.sidecar.RegionCopy;
import io.penstock.device.sidecar.RegionSource.IpcBuffer;
import io.penstock.device.sidecar.RegionSource.Memfd;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.ScarceThreads;
import io.penstock.device.sidecar.SideCarClientOptions;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.SideCarServerOptions;
import io.penstock.device.sidecar.client.SideCarClient;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A node, a client with three regions, and virtual time: the ground of tests of the side-car's rules.
abstract class SimulatedSideCar {
  static final int PROCESS = 7;
  static final long MILLIS = TimeUnit.MILLISECONDS.toNanos(1);

  final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  final Random random = new Random(1);
  final SimulatedLinks links = new SimulatedLinks(clock, random, MILLIS);
  final SimulatedMemories memories = new SimulatedMemories(clock, random, 100 * MILLIS);
  final SideCarServerOptions options =
      SideCarServerOptions.defaults().withMaxCopies(2).withMaxClients(2).withMaxRegions(3)
          .withMaxBytes(600, 800);
  final ScarceThreads workers = new ScarceThreads(clock);
  final SideCarNode node = new SideCarNode(options, memories, memories.staging, workers, clock);
  final SideCarClient client = client(PROCESS);
  final RegionSpec host = host(1, 256);
  final RegionSpec other = host(2, 256);
  final RegionSpec buffer = new RegionSpec(3, 256, new IpcBuffer(0, IpcKey.of(new byte[65])));
  SimulatedLinks.@Nullable Cable cable;

  SimulatedSideCar() {
    links.node(node);
    for (RegionSpec region : List.of(host, other, buffer)) {
      memories.make(PROCESS, region);
    }
    pass(1_000);
    assertThat(client.isHealthy()).isTrue();
  }

  @AfterEach
  void nothingIsLeft() {
    links.refuse(false);
    memories.broken.clear();
    pass(60_000);
    ended(client.close());
    pass(10_000);
    assertThat(memories.mapped()).isEmpty();
    assertThat(memories.mistakes).isEmpty();
    node.close().subscribe();
    memories.close();
  }

  static RegionSpec host(long id, long bytes) {
    return new RegionSpec(id, bytes, new Memfd((int) id));
  }

  SideCarClient client(int process) {
    return new SideCarClient(SideCarClientOptions.defaults().withMaxWaiting(2), links.dialer(made -> cable = made),
        clock,
        new Random(process), process);
  }

  void pass(long millis) {
    clock.advanceTimeBy(Duration.ofMillis(millis));
  }

  /// How a call ends, if it does within 1 s: null, or its code.
  @Nullable SideCarCode ended(Mono<?> call) {
    Outcome outcome = new Outcome(call);
    pass(1_000);
    assertThat(outcome.ended).as("ended").isTrue();
    return outcome.code;
  }

  static final class Outcome {
    boolean ended;
    @Nullable SideCarCode code;
    long region;

    Outcome(Mono<?> call) {
      call.subscribe(value -> {}, error -> {
        ended = true;
        code = ((SideCarFailure) error).code();
        region = ((SideCarFailure) error).region();
      }, () -> ended = true);
    }
  }

  void registerAll() {
    for (RegionSpec region : List.of(buffer, host, other)) {
      assertThat(ended(client.register(region))).isNull();
    }
  }

  static RegionCopy copy(RegionSpec from, RegionSpec to) {
    return new RegionCopy(from.id(), 0, to.id(), 0, from.bytes());
  }
}
