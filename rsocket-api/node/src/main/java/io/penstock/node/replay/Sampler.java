package io.penstock.node.replay;

import io.penstock.node.party.Parties;
import io.penstock.node.party.PartyStat;
import io.penstock.node.replay.report.Tally;
import io.penstock.node.replay.report.Timeline;
import java.time.Duration;
import java.util.function.LongSupplier;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Samples a run at intervals: one question to the parties a sample, none before the last was answered, nor soon after
/// a slow answer. A node counts as events happen, so that an answer costs it nothing. A party in another process is
/// slow when its processors are busy with the run, and questions should not add to that.
final class Sampler {
  /// Minimum rest after an answer, as a multiple of its time: samples cost 3 % of the time at most.
  private static final int REST = 30;

  private final Timeline timeline;
  private final Tally tally;
  private final Scheduler scheduler;
  private final LongSupplier nanoClock;
  private Duration rest = Duration.ZERO;

  /// @param tally of the run
  /// @param scheduler of one thread; its clock starts the samples, and it writes them
  /// @param nanoClock dates the samples
  Sampler(Timeline timeline, Tally tally, Scheduler scheduler, LongSupplier nanoClock) {
    this.timeline = timeline;
    this.tally = tally;
    this.scheduler = scheduler;
    this.nanoClock = nanoClock;
  }

  /// Samples `parties` while `run` runs. A party that no longer answers ends the samples, not the run, which reports
  /// its failure itself.
  ///
  /// @return ends as `run` does; a cold `Mono`, for one subscription
  <T> Mono<T> during(Parties parties, Mono<T> run) {
    Mono<T> samples = Mono.defer(() -> Mono.delay(pause(), scheduler)).then(stat(parties))
        .doOnNext(stat -> timeline.sample(nanoClock.getAsLong(), tally.interval(), stat)).repeat()
        .then(Mono.<T>never()).onErrorResume(gone -> Mono.never());
    return stat(parties).doOnNext(stat -> timeline.start(nanoClock.getAsLong(), stat))
        .then(Mono.firstWithSignal(run, samples))
        .flatMap(result -> stat(parties).doOnNext(stat -> timeline.end(nanoClock.getAsLong(), tally.interval(), stat))
            .thenReturn(result));
  }

  private Mono<PartyStat> stat(Parties parties) {
    return Mono.defer(() -> {
      long asked = nanoClock.getAsLong();
      return parties.stat().publishOn(scheduler)
          .doOnNext(stat -> rest = Duration.ofNanos(REST * (nanoClock.getAsLong() - asked)));
    });
  }

  private Duration pause() {
    return rest.compareTo(timeline.period()) > 0 ? rest : timeline.period();
  }
}
