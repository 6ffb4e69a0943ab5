package io.penstock.node.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.KvException;
import io.penstock.block.CacheSpace;
import io.penstock.node.CommandLineRun;
import io.penstock.node.party.FlowPlan;
import io.penstock.node.party.LoopbackParties;
import io.penstock.node.party.TraceKeys;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.text.Json;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.storage.recording.RecordingReader;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.tier.spi.StoreUnavailableException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.JsonNode;

/// A run over sockets and three levels, with a disk that is busy, refuses and goes off, is recorded; each of its
/// playings has the SHA-256 of the recording.
final class RecordedFaultsTest {
  private static final int REQUESTS = 8;
  private static final CacheSpace SPACE = BlockShape.of(2 << 10, 2).space("faults");
  private static final FlowPlan FLOW = FlowPlan.of(SPACE, 1 << 20, REQUESTS);
  private static final int ON_DEVICE = 12;
  private static final int IN_MEMORY = 20;
  private static final int ON_DISK = 40;
  private static final long SEED = 32;

  @TempDir
  private Path folder;

  private final Scheduler driver = Schedulers.newSingle("faults-test");
  private final ExecutorService copies = Executors.newFixedThreadPool(3);
  private final FaultyStore disk =
      new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, copies));
  private final MemoryStore device = new MemoryStore("hbm", Medium.DEVICE, SPACE, ON_DEVICE, copies);

  @AfterEach
  void stop() {
    driver.dispose();
    copies.close();
  }

  @Timeout(60)
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void runWithFaults_playsToOneSha256(int loops) {
    playsToOneSha256(loops, 60, 5);
  }

  @Tag("proof")
  @Timeout(3600)
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void longRunWithFaults_playsToOneSha256(int loops) {
    playsToOneSha256(loops, 10_000, 100);
  }

  private void playsToOneSha256(int loops, int requests, int times) {
    Path recording = folder.resolve("incident");
    record(recording, loops, requests);
    Map<Kind, Integer> kinds = kinds(recording);
    assertThat(kinds).as("what was recorded").containsKeys(Kind.STORE_FAILED, Kind.STORE_ROOM, Kind.STORE_HEALTH,
        Kind.LEVEL_DOWN, Kind.LEVEL_UP, Kind.STORE_READ, Kind.MOVED, Kind.EVICTED);

    CommandLineRun played =
        CommandLineRun.of("replay", recording.toString(), "--repeat", String.valueOf(times), "--json");

    assertThat(played.exitCode()).as(played.out() + played.err()).isZero();
    JsonNode report = Json.MAPPER.readTree(played.out());
    assertThat(report.get("equal").asBoolean()).isTrue();
    assertThat(report.get("runs")).hasSize(times);
    Set<String> sums = new HashSet<>();
    report.get("runs").forEach(run -> sums.add(run.asString()));
    assertThat(sums).containsExactly(report.get("last").get("recorded").get("sha256").asString());
    assertThat(report.get("last").get("gap").asBoolean()).isFalse();
  }

  private void record(Path recording, int loops, int requests) {
    TierPlan plan = TierPlan.dram(SPACE, Capacity.ofBlocks(IN_MEMORY)).withHbm(Capacity.ofBlocks(ON_DEVICE))
        .withWindowBlocks(FLOW.windowBlocks()).withWaiters(4096)
        .withSsd(Capacity.ofBlocks(ON_DISK), DiskPlan.in(Path.of("of-no-use")));
    TierRecording recorder = TierRecording.begin(recording);
    faults();
    AtomicInteger served = new AtomicInteger();
    Mono.usingWhen(
        NodeTiers.stack(plan, NodeMemory.of(plan), null, device, disk, TierListener.noop(), Sampling.none(), recorder)
            .flatMap(tiers -> LoopbackParties.on(tiers, FLOW, new TraceKeys(SPACE.id(), 0), driver, System::nanoTime,
                recorder, loops)),
        parties -> requests(requests)
            .flatMap(ids -> parties.decode().read(ids, answer -> parties.prefill().put(answer.admitted())).then()
                .onErrorComplete(KvException.class) // a fault came through
                .doFinally(end -> goOffAndOn(served.incrementAndGet())), REQUESTS)
            .then(),
        LoopbackParties::close).block(Duration.ofMinutes(10));
    assertThat(served).hasValue(requests);
  }

  /// One operation in four is refused or finds the disk busy, by turns. So each run has both, whatever the threads.
  private void faults() {
    AtomicInteger operations = new AtomicInteger();
    disk.puts(put -> fault(operations, put)).reads(read -> fault(operations, read));
  }

  private <T> Mono<T> fault(AtomicInteger operations, Mono<T> operation) {
    return switch (operations.incrementAndGet() % 12) {
      case 0 -> Mono.error(new StoreUnavailableException("planted"));
      case 3, 7 -> Mono.error(new StoreBusyException("planted", Mono.fromFuture(
          () -> CompletableFuture.runAsync(() -> {}, copies))));
      default -> operation;
    };
  }

  private void goOffAndOn(int served) {
    if (served % 30 == 10) {
      disk.health(StoreHealth.State.OFF);
    } else if (served % 30 == 20) {
      disk.health(StoreHealth.State.ACTIVE);
    }
  }

  /// Prompts of one to six blocks, with prefixes that come again.
  private static Flux<List<Long>> requests(int count) {
    Random random = new Random(SEED);
    return Flux.range(0, count).map(request -> {
      long conversation = random.nextInt(24);
      return LongStream.rangeClosed(1, 1 + random.nextInt(6)).mapToObj(block -> 10 * conversation + block).toList();
    });
  }

  private static Map<Kind, Integer> kinds(Path recording) {
    Map<Kind, Integer> kinds = new EnumMap<>(Kind.class);
    try (RecordingReader events = RecordingReader.open(recording)) {
      events.forEachRemaining(event -> kinds.merge(event.kind(), 1, Integer::sum));
    }
    return kinds;
  }
}
