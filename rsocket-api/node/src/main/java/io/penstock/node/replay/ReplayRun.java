package io.penstock.node.replay;

import io.penstock.PenstockVersion;
import io.penstock.node.party.LedgerState;
import io.penstock.node.party.Parties;
import io.penstock.node.party.PartyStat;
import io.penstock.node.party.TraceKeys;
import io.penstock.node.replay.report.ModelBlocks;
import io.penstock.node.replay.report.ModelPayload;
import io.penstock.node.replay.report.ReplayReport;
import io.penstock.node.replay.report.Tally;
import io.penstock.node.trace.TraceSource;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// One replay from the first request to the report.
public final class ReplayRun {
  /// Maximum wait, at the end, for memory that frames still hold.
  private static final Duration SETTLE = Duration.ofSeconds(5);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(5);

  private final Parties parties;
  private final ReplaySubject subject;
  private final Tally tally;
  private final Scheduler driver;
  private final LongSupplier nanoClock;
  private final LoopbackCounter loopback = LoopbackCounter.ofKernel();

  /// @param tally sums up while the replay runs, for its watchers
  /// @param driver reads the trace and paces
  public ReplayRun(Parties parties, ReplaySubject subject, Tally tally, Scheduler driver, LongSupplier nanoClock) {
    this.parties = parties;
    this.subject = subject;
    this.tally = tally;
    this.driver = driver;
    this.nanoClock = nanoClock;
  }

  /// Replays `trace` and reports; cancelling stops the requests under way.
  public Mono<ReplayReport> report(TraceSource trace) {
    return Mono.firstWithSignal(run(trace), parties.lost().then(Mono.empty()));
  }

  private Mono<ReplayReport> run(TraceSource trace) {
    return before().flatMap(before -> {
      long startNanos = nanoClock.getAsLong();
      SteadyRate steady = new SteadyRate();
      PolicyAlone.Of compared = subject.compared();
      Savings savings = new Savings(subject.size().blockTokens(),
          compared == null ? null : new PolicyAlone(compared, new TraceKeys(subject.plan().space().id(), 0)));
      return new Replay(parties.decode(), parties.prefill(), subject.pace(), driver).served(savings.counted(trace))
          .doOnNext(served -> {
            tally.add(served.delivery());
            savings.add(served);
            steady.add(nanoClock.getAsLong() - startNanos, tally.sums().bytesDelivered());
          }).then(Mono.fromSupplier(() -> nanoClock.getAsLong() - startNanos))
          .flatMap(elapsedNanos -> after(before).map(after -> report(elapsedNanos, steady, savings, before, after)));
    });
  }

  /// Counters of others, at one moment.
  private record Count(@Nullable Long loopbackBytes, PartyStat stat) {}

  private Mono<Count> before() {
    return parties.stat().publishOn(driver).map(stat -> new Count(loopback.receivedBytes(), stat));
  }

  /// Counts since `before`, with the present figures of the parties.
  private Mono<Count> after(Count before) {
    return Mono.fromSupplier(() -> Optional.ofNullable(loopback.receivedSince(before.loopbackBytes())))
        .subscribeOn(driver)
        .flatMap(received -> settled(before.stat()).map(stat -> new Count(received.orElse(null), stat)));
  }

  /// Figures of the parties when no more is claimed than before, or after a bounded wait.
  private Mono<PartyStat> settled(PartyStat before) {
    long deadline = driver.now(TimeUnit.NANOSECONDS) + SETTLE.toNanos();
    return parties.stat()
        .repeatWhen(ends -> ends.delayElements(LOOK_AGAIN, driver))
        .takeUntil(
            stat -> stat.claimedBlocks() <= before.claimedBlocks() || driver.now(TimeUnit.NANOSECONDS) >= deadline)
        .last();
  }

  private ReplayReport report(long elapsedNanos, SteadyRate steady, Savings savings, Count before, Count after) {
    PartyStat stat = after.stat();
    long leakedBlocks = Math.max(0, stat.claimedBlocks() - before.stat().claimedBlocks());
    Tally.Sums sums = tally.sums();
    ModelPayload payload = subject.payload();
    double seconds = elapsedNanos / 1e9;
    return new ReplayReport(PenstockVersion.current(), subject.trace(), parties.description(), payload.bytes(),
        payload.layers(),
        ModelBlocks.of(subject.size(), payload, stat.ledger().fill()),
        savings.reuse(subject.size()), subject.capacities(), subject.policy(), subject.pace().concurrency(),
        sums.requests(),
        sums.blockRefs(), sums.hits(), sums.prefixHits(), rounded(sums.hits() / (double) Math.max(1, sums.blockRefs())),
        stat.ledger().hitsSince(before.stat().ledger()), stat.ledger().fill(),
        stat.ledger().copiesSince(before.stat().ledger()), sums.bytesDelivered(), sums.bytesVerified(),
        after.loopbackBytes(), sums.corruptBlocks(),
        leakedBlocks, sums.repeatedPasses(), stat.peakInFlightBytes(), stat.budgetBytes(), rounded(seconds),
        rounded(sums.bytesDelivered() / 1e9 / Math.max(seconds, 1e-9)),
        rounded(steady.bytesPerSecond(elapsedNanos, sums.bytesDelivered()) / 1e9), tally.firstSlice(),
        tally.firstLayerMicros(),
        tally.firstLayer(),
        tally.lastLayer(), tally.overlap(), parties.times(), subject.ceilings(),
        savings.policyHits(), troubles(stat.ledger()));
  }

  /// Levels that were not healthy at some time, or are not now.
  private Map<String, String> troubles(LedgerState now) {
    Map<String, String> troubles = new TreeMap<>(now.troubles());
    troubles.putAll(parties.troubles());
    return troubles;
  }

  private static double rounded(double value) {
    return Math.round(value * 1e6) / 1e6;
  }
}
