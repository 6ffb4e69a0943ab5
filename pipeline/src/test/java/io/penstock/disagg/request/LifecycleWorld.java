package io.penstock.disagg.request;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Processes of prefill and decode ranks and what lies between them, in one thread and virtual time.
final class LifecycleWorld implements PeerSignals {
  static final long SLICE_NANOS = 1_000_000;
  static final LifecycleOptions OPTIONS = new LifecycleOptions(
      new LifecycleOptions.Lease(Duration.ofSeconds(5), Duration.ofSeconds(120), Duration.ofSeconds(30)),
      new LifecycleOptions.Patience(Duration.ofSeconds(20), Duration.ofSeconds(20), Duration.ofSeconds(5),
          Duration.ofSeconds(2)),
      new LifecycleOptions.Signals(5, Duration.ofSeconds(1)), Duration.ofMillis(50));

  final VirtualTimeScheduler timers = VirtualTimeScheduler.create();
  final List<String> violations = new ArrayList<>();
  private final Map<RankId, SimPrefill> prefills = new HashMap<>();
  /// Slices on the links, by request.
  final Map<String, Integer> slices = new HashMap<>();
  private final Random random;
  /// Signals that are delivered again, at once and much later.
  Predicate<Signal> repeated = signal -> false;
  private long generations;

  LifecycleWorld(long seed) {
    this.random = new Random(seed * 0x9E3779B97F4A7C15L);
  }

  long nanos() {
    return timers.now(TimeUnit.NANOSECONDS);
  }

  long nextGeneration() {
    return ++generations;
  }

  void later(long nanos, Runnable task) {
    timers.schedule(task, nanos, TimeUnit.NANOSECONDS);
  }

  long latency() {
    return 100_000L + random.nextInt(2_000_000);
  }

  long minutes() {
    return TimeUnit.SECONDS.toNanos(1 + random.nextInt(120));
  }

  void sent(String request) {
    slices.merge(request, 1, Integer::sum);
  }

  void violation(String what) {
    violations.add(what);
  }

  SimPrefill prefill(RankId rank) {
    return prefills.get(rank);
  }

  Iterable<SimPrefill> prefills() {
    return List.copyOf(prefills.values());
  }

  void start(RankId rank) {
    prefills.put(rank, new SimPrefill(rank.since(nextGeneration()), OPTIONS, timers));
  }

  void kill(RankId rank) {
    SimPrefill gone = prefills.get(rank);
    gone.alive = false;
    List.copyOf(gone.rotation)
        .forEach(transfer -> later(latency(), () -> transfer.fail(new SimTransfer.LostException())));
    gone.rotation.clear();
  }

  /// Gives the moves of a source their turns, one slice each.
  void serve(SimPrefill source) {
    if (source.busy || source.rotation.isEmpty()) {
      return;
    }
    source.busy = true;
    SimTransfer next = source.rotation.remove();
    if (next.send()) {
      source.rotation.add(next);
    }
    later(SLICE_NANOS, () -> {
      source.busy = false;
      serve(source);
    });
  }

  @Override
  public Mono<RequestAnswer> send(Incarnation to, Signal signal) {
    return Mono.create(sink -> later(latency(), () -> {
      SimPrefill target = prefills.get(to.rank());
      if (!target.alive || !target.self.equals(to)) {
        sink.error(new SimTransfer.LostException());
        return;
      }
      target.requests.accept(signal).subscribe(answer -> later(latency(), () -> sink.success(answer)), sink::error);
      if (repeated.test(signal)) {
        target.requests.accept(signal).subscribe();
        later(minutes(), () -> {
          if (target.alive) {
            target.requests.accept(signal).subscribe();
          }
        });
      }
    }));
  }
}
