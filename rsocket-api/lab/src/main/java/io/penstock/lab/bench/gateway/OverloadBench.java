package io.penstock.lab.bench.gateway;

import io.penstock.PenstockVersion;
import io.penstock.node.cli.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Asks a gateway for more than its engine can answer. Arrivals do not wait for answers, as those of many clients; a
/// refused client does not come back. Four loads, one after another: so many answers at a time as the engine has slots,
/// which warms up; the overload; half of the capacity, in which the gateway has to recover; and the first load again.
final class OverloadBench {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final String PROMPT = "What is a penstock?";
  private static final long LEAVE_MILLIS = 50;
  private static final int REFUSED = 503;
  private static final int LATE = 429;
  /// A wait for the first token that is no sign of overload, beside the one of an idle gateway.
  private static final double CALM_WAIT = 1.5;

  private final OverloadLoad load;
  private final BenchEngine engine;
  private final AnswerClient client;
  private final GatewayProcess gateway;
  private final Scheduler timer;

  /// One request.
  ///
  /// @param began [System#nanoTime()]
  private record Asked(long began, AnswerClient.Answer answer) {
    boolean isRefused() {
      return (answer.status() == REFUSED || answer.status() == LATE) && answer.retryAfter() > 0;
    }
  }

  /// What became of the requests of one load.
  private static final class Outcome {
    private final Queue<Asked> asked = new ConcurrentLinkedQueue<>();
    private final AtomicLong left = new AtomicLong();
    private final Queue<String> failed = new ConcurrentLinkedQueue<>();
    private final AtomicInteger open = new AtomicInteger();
    private final List<Long> memory = new ArrayList<>();
    private long began;
    private long nanos;
    private long cpuNanos;

    private long count(Predicate<Asked> which) {
      return asked.stream().filter(which).count();
    }
  }

  /// @param timer of clients that go
  OverloadBench(OverloadLoad load, BenchEngine engine, AnswerClient client, GatewayProcess gateway, Scheduler timer) {
    this.load = load;
    this.engine = engine;
    this.client = client;
    this.gateway = gateway;
    this.timer = timer;
  }

  OverloadReport run(Progress progress) {
    engine.pace(load.pace());
    double capacity = load.capacity();
    progress.next("warm-up");
    closed(OverloadLoad.CALM);
    progress.next("overload");
    Outcome over = open(capacity * load.factor(), load.time(), load.leaving());
    progress.next("recovery");
    Outcome after = open(capacity * OverloadLoad.AFTER, OverloadLoad.CALM, 0);
    progress.next("capacity");
    return report(over, after, closed(OverloadLoad.CALM));
  }

  private OverloadReport report(Outcome over, Outcome after, Outcome calm) {
    double calmFirst = median(calm, each -> each.answer().whole(), each -> each.answer().firstNanos());
    long whole = over.count(each -> each.answer().whole());
    long refused = over.count(Asked::isRefused);
    double cpuOfAnswer = (double) calm.cpuNanos / Math.max(1, calm.count(each -> each.answer().whole()));
    double waited = median(over, each -> each.answer().whole(),
        each -> each.answer().firstNanos() - calmFirst);
    double told = median(over, Asked::isRefused, each -> each.answer().retryAfter() * 1e9);
    double refusal = median(over, Asked::isRefused, each -> each.answer().nanos());
    long lastHard = after.asked.stream()
        .filter(each -> each.isRefused() || each.answer().firstNanos() > CALM_WAIT * calmFirst)
        .mapToLong(Asked::began).max().orElse(after.began);
    return new OverloadReport(PenstockVersion.current(), load.slots(), load.queue(), load.factor(),
        load.time().toSeconds(), load.capacity(),
        calm.count(each -> each.answer().whole()) * 1e9 / calm.nanos, whole * 1e9 / over.nanos, whole, refused,
        over.left.get(),
        broken(over, after), engine.most(),
        Math.max(0, over.cpuNanos - whole * cpuOfAnswer) / 1e3 / Math.max(1, refused), cpuOfAnswer / 1e3,
        refusal / 1e6, told / 1e9, Math.max(0, waited) / 1e9, third(over.memory, 0), third(over.memory, 2),
        (lastHard - after.began) / 1e9);
  }

  /// What became of requests that were neither answered nor refused, with their numbers.
  private static SortedMap<String, Long> broken(Outcome... outcomes) {
    SortedMap<String, Long> broken = new TreeMap<>();
    for (Outcome outcome : outcomes) {
      outcome.failed.forEach(failure -> broken.merge(failure, 1L, Long::sum));
      outcome.asked.stream().filter(each -> !each.answer().whole() && !each.isRefused())
          .forEach(each -> broken.merge("status " + each.answer().status(), 1L, Long::sum));
    }
    return broken;
  }

  /// The greatest memory in a third of the time, in MiB.
  private static double third(List<Long> memory, int third) {
    int size = memory.size();
    return memory.subList(third * size / 3, Math.max(third * size / 3 + 1, (third + 1) * size / 3)).stream()
        .mapToLong(each -> each).max().orElse(0) / (double) (1 << 20);
  }

  private static double median(Outcome outcome, Predicate<Asked> which, ToDoubleFunction<Asked> figure) {
    double[] all = outcome.asked.stream().filter(which).mapToDouble(figure).toArray();
    Arrays.sort(all);
    return all.length == 0 ? 0 : all[all.length / 2];
  }

  private Outcome closed(Duration time) {
    Outcome outcome = new Outcome();
    begin(outcome);
    long end = outcome.began + time.toNanos();
    Flux.range(0, load.slots()).flatMap(place -> Flux.defer(() -> {
      long began = System.nanoTime();
      return client.ask(gateway.url(), AnswerForm.CHAT, PROMPT, load.tokens(), delay -> {})
          .doOnNext(answer -> outcome.asked.add(new Asked(began, answer)));
    }).repeat(() -> System.nanoTime() - end < 0), load.slots()).blockLast(PATIENCE);
    end(outcome);
    return outcome;
  }

  private Outcome open(double rate, Duration time, double leaving) {
    Outcome outcome = new Outcome();
    SplittableRandom random = new SplittableRandom(load.seed());
    begin(outcome);
    long end = outcome.began + time.toNanos();
    long next = outcome.began;
    long look = outcome.began;
    while (next < end) {
      long now = System.nanoTime();
      if (now < next) {
        LockSupport.parkNanos(next - now);
        continue;
      }
      if (now >= look) {
        outcome.memory.add(gateway.residentBytes());
        look += TimeUnit.SECONDS.toNanos(1);
      }
      ask(outcome, random.nextDouble() < leaving);
      next += (long) (-Math.log(1 - random.nextDouble()) * 1e9 / rate);
    }
    outcome.memory.add(gateway.residentBytes());
    outcome.nanos = System.nanoTime() - outcome.began;
    outcome.cpuNanos = gateway.cpuNanos() - outcome.cpuNanos;
    while (leaving == 0 && outcome.open.get() > 0) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    return outcome;
  }

  private void begin(Outcome outcome) {
    outcome.began = System.nanoTime();
    outcome.cpuNanos = gateway.cpuNanos();
  }

  private void end(Outcome outcome) {
    outcome.nanos = System.nanoTime() - outcome.began;
    outcome.cpuNanos = gateway.cpuNanos() - outcome.cpuNanos;
  }

  private void ask(Outcome outcome, boolean leaves) {
    long began = System.nanoTime();
    outcome.open.incrementAndGet();
    Mono<AnswerClient.Answer> answer = client.ask(gateway.url(), AnswerForm.CHAT, PROMPT, load.tokens(), delay -> {});
    (leaves ? answer.timeout(Duration.ofMillis(LEAVE_MILLIS), timer) : answer)
        .doFinally(signal -> outcome.open.decrementAndGet())
        .subscribe(one -> outcome.asked.add(new Asked(began, one)),
            failure -> {
              if (leaves) {
                outcome.left.incrementAndGet();
              } else {
                outcome.failed.add(String.valueOf(failure.getMessage()));
              }
            });
  }
}
