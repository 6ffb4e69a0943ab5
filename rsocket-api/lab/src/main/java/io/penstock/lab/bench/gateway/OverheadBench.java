package io.penstock.lab.bench.gateway;

import static java.util.Objects.requireNonNull;

import io.penstock.node.cli.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.ConcurrentHistogram;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/// Measures what a gateway costs: the same engine is asked directly, and through gateways, by turns.
///
/// A lane is one form of answer on one way to the engine. A round has two turns of each lane: in one the engine writes
/// as fast as it can, in the other at a pace. It begins with another lane than the round before. Each lane is compared
/// with the direct one of its round. An engine knows chats and completions: the other forms are compared with a chat.
final class OverheadBench {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final int DIGITS = 3;
  private static final String PROMPT = "What is a penstock?";

  private final OverheadLoad load;
  private final BenchEngine engine;
  private final AnswerClient client;
  private final Scheduler timer;
  private final Map<String, @Nullable GatewayProcess> ways = new LinkedHashMap<>();

  /// One form of answer on one way.
  private record Lane(String way, AnswerForm form) {}

  /// Figures of two turns of a lane, times in nanoseconds.
  ///
  /// @param rate tokens a second as fast as the engine can
  /// @param cpu of the gateway for a token of them
  /// @param whole time of a paced answer
  /// @param first time to its first token
  /// @param delay of a token, from the engine's write to the client
  /// @param broken answers that were not whole
  private record Turn(double rate, double cpu, double whole, double first, double delay, long broken) {}

  /// @param gateways by what is special about them
  /// @param timer of the places' begin
  OverheadBench(OverheadLoad load, BenchEngine engine, AnswerClient client, Map<String, GatewayProcess> gateways,
      Scheduler timer) {
    this.load = load;
    this.engine = engine;
    this.client = client;
    this.timer = timer;
    ways.put(OverheadReport.DIRECT, null);
    ways.putAll(gateways);
  }

  OverheadReport run(Progress progress) {
    List<Lane> order = new ArrayList<>();
    for (String way : ways.keySet()) {
      for (AnswerForm form : load.forms()) {
        order.add(new Lane(way, ways.get(way) == null ? form.ofEngine() : form));
      }
    }
    order = new ArrayList<>(order.stream().distinct().toList());
    List<Lane> lanes = List.copyOf(order);
    Map<Lane, List<Turn>> turns = new LinkedHashMap<>();
    lanes.forEach(lane -> turns.put(lane, new ArrayList<>()));
    int rounds = load.warmUp() + load.rounds();
    for (int round = 0; round < rounds; round++) {
      progress.next(round < load.warmUp() ? "warm-up" : "round " + (round - load.warmUp() + 1));
      for (Lane lane : order) {
        Turn turn = turn(lane);
        if (round >= load.warmUp()) {
          requireNonNull(turns.get(lane)).add(turn);
        }
      }
      Collections.rotate(order, 1);
      progress.at(round + 1, rounds);
    }
    return OverheadReport.of(load, lanes.stream().map(lane -> lane(lane, turns)).toList());
  }

  private static OverheadReport.Lane lane(Lane lane, Map<Lane, List<Turn>> turns) {
    List<Turn> own = requireNonNull(turns.get(lane));
    List<Turn> direct = requireNonNull(turns.get(new Lane(OverheadReport.DIRECT, lane.form().ofEngine())));
    return new OverheadReport.Lane(lane.way(), lane.form().word(), median(own, Turn::rate),
        extra(own, direct, turn -> 1e6 / turn.rate()), median(own, turn -> turn.cpu() / 1e3),
        median(own, turn -> turn.whole() / 1e6), extra(own, direct, turn -> turn.whole() / 1e6),
        extra(own, direct, turn -> turn.first() / 1e6), extra(own, direct, turn -> turn.delay() / 1e3),
        own.stream().mapToLong(Turn::broken).sum());
  }

  /// The median of the differences in each round.
  private static double extra(List<Turn> own, List<Turn> direct, ToDoubleFunction<Turn> figure) {
    double[] extra = new double[own.size()];
    Arrays.setAll(extra, round -> figure.applyAsDouble(own.get(round)) - figure.applyAsDouble(direct.get(round)));
    return median(extra);
  }

  private static double median(List<Turn> turns, ToDoubleFunction<Turn> figure) {
    return median(turns.stream().mapToDouble(figure).toArray());
  }

  private static double median(double[] figures) {
    Arrays.sort(figures);
    return figures[figures.length / 2];
  }

  private Turn turn(Lane lane) {
    GatewayProcess gateway = ways.get(lane.way());
    String url = gateway == null ? engine.url() : gateway.url();
    engine.pace(Duration.ZERO);
    long cpu = gateway == null ? 0 : gateway.cpuNanos();
    Answers fast = answers(url, lane.form(), load.tokens(), Duration.ZERO);
    long used = gateway == null ? 0 : gateway.cpuNanos() - cpu;
    engine.pace(load.pace());
    Answers paced = answers(url, lane.form(), OverheadLoad.PACED_TOKENS,
        load.pace().multipliedBy(OverheadLoad.PACED_TOKENS));
    return new Turn(fast.tokens.get() * 1e9 / fast.nanos, (double) used / fast.tokens.get(),
        paced.whole.getValueAtPercentile(50), paced.first.getValueAtPercentile(50),
        paced.delays.getValueAtPercentile(50), fast.broken.get() + paced.broken.get());
  }

  /// Answers of one turn.
  private static final class Answers {
    private final AtomicLong tokens = new AtomicLong();
    private final AtomicLong broken = new AtomicLong();
    private final ConcurrentHistogram whole = new ConcurrentHistogram(LONGEST_NANOS, DIGITS);
    private final ConcurrentHistogram first = new ConcurrentHistogram(LONGEST_NANOS, DIGITS);
    private final ConcurrentHistogram delays = new ConcurrentHistogram(LONGEST_NANOS, DIGITS);
    private long nanos;

    private void count(AnswerClient.Answer answer) {
      broken.addAndGet(answer.whole() ? 0 : 1);
      tokens.addAndGet(answer.tokens());
      whole.recordValue(Math.min(LONGEST_NANOS, answer.nanos()));
      first.recordValue(Math.min(LONGEST_NANOS, answer.firstNanos()));
    }

    private void delay(long delay) {
      delays.recordValue(Math.clamp(delay, 0, LONGEST_NANOS));
    }
  }

  /// @param spread in which the places begin, so that their tokens do not come all at once
  private Answers answers(String url, AnswerForm form, int tokens, Duration spread) {
    Answers answers = new Answers();
    long began = System.nanoTime();
    long end = began + load.time().toNanos();
    Flux.range(0, load.concurrency())
        .flatMap(place -> client.ask(url, form, PROMPT, tokens, answers::delay).doOnNext(answers::count)
            .repeat(() -> System.nanoTime() - end < 0)
            .delaySubscription(spread.multipliedBy(place).dividedBy(load.concurrency()), timer), load.concurrency())
        .blockLast(PATIENCE);
    answers.nanos = System.nanoTime() - began;
    return answers;
  }
}
