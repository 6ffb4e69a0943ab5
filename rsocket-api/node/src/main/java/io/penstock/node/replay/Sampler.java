package io.penstock.node.replay;

import io.penstock.node.party.Parties;
import io.penstock.node.party.PartyStat;
import io.penstock.node.replay.report.Tally;
import io.penstock.node.replay.report.Timeline;
import java.time.Duration;
import java.util.function.LongSupplier;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Looks at a run from time to time, and writes down what it sees: one question to the parties a sample, none before
/// the last was answered, nor soon after an answer that took long. A node counts as things happen, so that an answer
/// costs it nothing; what takes long is a party in another process whose processors are busy with the run, and asking
/// should not add to that.
final class Sampler {
  /// Least rest after an answer, in times that it took: samples cost 3 % of the time at most.
  private static final int REST = 30;

  private final Timeline timeline;
  private final Tally tally;
  private final Scheduler scheduler;
  private final LongSupplier nanoClock;
  private Duration rest = Duration.ZERO;

  /// @param tally of the run
  /// @param scheduler of one thread; tells when, and does the writing
  /// @param nanoClock dates the samples
  Sampler(Timeline timeline, Tally tally, Scheduler scheduler, LongSupplier nanoClock) {
    this.timeline = timeline;
    this.tally = tally;
    this.scheduler = scheduler;
    this.nanoClock = nanoClock;
  }

  /// Runs `run` and samples `parties` meanwhile. A party that no longer answers ends the samples, not the run: the run
  /// tells by itself what went wrong.
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
