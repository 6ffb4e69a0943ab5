package io.penstock.node.party;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.penstock.KvException;
import io.penstock.block.CacheSpace;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.replay.LruModel;
import io.penstock.node.replay.Replay;
import io.penstock.node.replay.ReplayRun;
import io.penstock.node.replay.ReplaySubject;
import io.penstock.node.replay.report.ReplayReport;
import io.penstock.node.replay.report.Tally;
import io.penstock.node.serve.QuickStart;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.TraceGenerator;
import io.penstock.node.trace.TraceSource;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Node, decode and prefill as three processes, and what is left when one of them is killed in mid-stream.
@Timeout(180)
@ExtendWith(QuickStart.class)
final class ProcessReplayTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final CacheSpace SPACE = BlockShape.of(16 << 10, 4).space("replay");
  private static final FlowPlan PLAN = FlowPlan.of(SPACE, 4 << 20, 4);
  private static final List<String> SERVE = List.of("--dram", "200 blocks");

  @TempDir
  private Path folder;

  private final Scheduler driver = Schedulers.newSingle("replay-test");

  @AfterEach
  void stopDriver() {
    driver.dispose();
  }

  /// With three levels, `StackReplayTest` shows it in each build.
  @Tag("proof")
  @Test
  void replay_inThreeProcesses_isAsInOne() {
    ReplayReport report = replay(ProcessParties.open(PLAN, SERVE, folder, driver, new RecordOptions()), 40);

    assertThat(report.isClean()).as("%s", report).isTrue();
    assertThat(report.hits()).isEqualTo(modelHits(200, 40));
  }

  @Test
  void killOfTheNode_inMidStream_leavesNothingBehind() {
    killLeavesNothingBehind("node");
  }

  @Tag("proof")
  @Test
  void killOfTheNode_inMidStream_andTheNextRunWorks() {
    killLeavesNothingBehind("node");
    assertThat(replay(ProcessParties.open(PLAN, SERVE, folder, driver, new RecordOptions()), 20).isClean()).isTrue();
  }

  @Test
  void killOfPrefill_inMidStream_leavesNothingBehindAndTheNextRunWorks() {
    killLeavesNothingBehind("prefill");
  }

  @Tag("proof")
  @Test
  void killOfDecode_inMidStream_leavesNothingBehindAndTheNextRunWorks() {
    killLeavesNothingBehind("decode");
  }

  private void killLeavesNothingBehind(String victim) {
    ProcessParties parties = ProcessParties.open(PLAN, SERVE, folder, driver, new RecordOptions()).block(LIMIT);
    try {
      AtomicInteger delivered = new AtomicInteger();
      Throwable failure = catchThrowable(
          () -> new Replay(parties.decode(), parties.prefill(), ReplayPace.defaults().withConcurrency(4), driver)
              .deliveries(trace(1_000_000)).doOnNext(delivery -> {
                if (delivered.incrementAndGet() == 20) {
                  kill(parties, victim);
                }
              }).blockLast(LIMIT));

      assertThat(failure).as("what the driver is told").isInstanceOf(KvException.class);
      assertThat(catchThrowable(() -> parties.lost().block(LIMIT))).isInstanceOf(PartyGoneException.class)
          .hasMessageContaining(victim);
      if (victim.equals("node")) {
        assertSettles("decode", parties.decode()::stat);
        assertSettles("prefill", parties.prefill()::stat);
      } else {
        assertSettles("node", parties::nodeStat);
        assertSettles("survivor", victim.equals("decode") ? parties.prefill()::stat : parties.decode()::stat);
        // the same keys again: whatever is visible is given out, and every byte of it is compared
        ReplayReport next =
            replay(ConnectedParties.open("next", Endpoint.tcp("127.0.0.1", parties.port()), PLAN,
                new TraceKeys(SPACE.id(), 0), System::nanoTime), 10);
        assertThat(next.isClean()).as("%s", next).isTrue();
      }
    } finally {
      parties.close().block(LIMIT);
    }
  }

  private ReplayReport replay(Mono<? extends Parties> opening, int requests) {
    ReplaySubject subject = new ReplaySubject("test", PLAN, Map.of(), "lru", ReplayPace.defaults(), Map.of());
    return Mono.usingWhen(opening, parties -> new ReplayRun(parties, subject, new Tally(), driver, System::nanoTime)
        .report(trace(requests)), Parties::close).block(LIMIT);
  }

  private void assertSettles(String party, Supplier<Mono<PartyStat>> stat) {
    PartyStat last = Mono.defer(stat).repeatWhen(ends -> ends.delayElements(Duration.ofMillis(20), driver))
        .takeUntil(now -> now.claimedBlocks() == 0 && now.inFlightBytes() == 0).take(Duration.ofSeconds(10), driver)
        .blockLast(LIMIT);
    assertThat(last).as(party).isNotNull();
    assertThat(last.claimedBlocks()).as("%s: claimed blocks", party).isZero();
    assertThat(last.inFlightBytes()).as("%s: bytes in flight", party).isZero();
  }

  private static void kill(ProcessParties parties, String victim) {
    PartyProcess process = parties.all().stream().filter(one -> one.name().equals(victim)).findFirst().orElseThrow();
    try {
      new ProcessBuilder("kill", "-9", String.valueOf(process.pid())).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long modelHits(long capacityBlocks, int requests) {
    LruModel model = new LruModel(capacityBlocks);
    long hits = 0;
    TraceSource trace = trace(requests);
    for (var request = trace.next(); request != null; request = trace.next()) {
      hits += model.request(request.hashIds()).hits();
    }
    return hits;
  }

  private static TraceSource trace(int requests) {
    return new TraceGenerator(new GeneratorOptions(requests, 4));
  }
}
