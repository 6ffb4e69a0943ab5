package io.penstock.node.replay;

import io.penstock.node.party.Parties;
import io.penstock.node.replay.report.Tally;
import java.time.Duration;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/// Shows the progress of a replay to a person. Called from one thread at a time.
interface ProgressView extends AutoCloseable {
  /// Shows the state at this moment.
  ///
  /// @param bytesPerSecond delivered since the last call
  /// @param inFlightBytes over all parties
  void show(Tally.Sums sums, double bytesPerSecond, long inFlightBytes);

  /// Shows the state at the end of a complete run; `sums` has all of its requests.
  ///
  /// @param bytesPerSecond over the whole run
  void end(Tally.Sums sums, double bytesPerSecond);

  @Override
  void close();

  /// Shows the progress to `view`, at once and then twice a second until the result is disposed.
  static Disposable watch(Parties parties, Tally tally, ProgressView view, Scheduler driver) {
    long[] before = {0, System.nanoTime()};
    return Flux.interval(Duration.ZERO, Duration.ofMillis(500), driver).onBackpressureDrop()
        .concatMap(tick -> parties.stat(), 1)
        .subscribe(stat -> {
          Tally.Sums sums = tally.sums();
          long now = System.nanoTime();
          double rate = (sums.bytesDelivered() - before[0]) * 1e9 / Math.max(1, now - before[1]);
          before[0] = sums.bytesDelivered();
          before[1] = now;
          view.show(sums, rate, stat.inFlightBytes());
        }, error -> view.close()); // the replay itself tells what went wrong
  }
}
