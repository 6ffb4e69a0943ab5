package io.penstock.lab.attack;

import io.penstock.lab.attack.AttackReport.Quiet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Plays a plan against a node: a quiet phase, then one attack after the other. Each attack begins when the node has
/// recovered. Uses one thread; the attackers and the good client have event loops of their own.
final class AttackRun {
  /// Maximum time for the node to release what an attack held.
  private static final Duration MOST_TO_LET_GO = Duration.ofSeconds(10);
  /// Maximum wait for a node that does not answer: the next phase would measure this attack.
  private static final Duration MOST_SILENCE = Duration.ofMinutes(2);
  /// Divisor of the quiet phase: its first part does not count.
  private static final int WARMING_PART = 4;
  private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long VISIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /// Receives the progress of the run.
  interface Listener {
    void begins(String what);

    void at(Duration played);

    void ended(AttackReport soFar);
  }

  private final String node;
  private final GoodClient client;
  private final Attackers attackers;
  private final Gauges.@Nullable Source gauges;
  private final long keepBlocks;
  private final long seed;
  private final Listener listener;
  private final List<PhaseReport> phases = new ArrayList<>();
  private long playedNanos;

  /// @param node as reports name it
  /// @param gauges null if the admin endpoints are not known
  /// @param keepBlocks most blocks that the good client keeps in the node
  AttackRun(String node, GoodClient client, Attackers attackers, Gauges.@Nullable Source gauges, long keepBlocks,
      long seed, Listener listener) {
    this.node = node;
    this.client = client;
    this.attackers = attackers;
    this.gauges = gauges;
    this.keepBlocks = keepBlocks;
    this.seed = seed;
    this.listener = listener;
  }

  AttackReport run(AttackPlan plan) {
    listener.begins("putting blocks that the node should keep");
    keep();
    listener.begins("quiet");
    Quiet quiet = quiet(plan.phase());
    listener.ended(report(quiet, false));
    for (AttackKind kind : plan.phases()) {
      listener.begins(kind.word());
      phases.add(phase(kind, plan.phase(), quiet));
      listener.ended(report(quiet, false));
      if (phases.getLast().after() == null) {
        return report(quiet, false);
      }
    }
    return report(quiet, phases.stream().allMatch(PhaseReport::held));
  }

  private AttackReport report(Quiet quiet, boolean held) {
    return new AttackReport(held, node, seed, client.kept().size(), quiet, phases);
  }

  /// Leaves room for the blocks that come and go.
  private int keep() {
    long room = client.connected().capacityBlocks() - 2 * GoodClient.ROUND_BLOCKS;
    return client.keep(Math.min(keepBlocks, Math.max(0, room)));
  }

  private Quiet quiet(Duration time) {
    Duration warming = time.dividedBy(WARMING_PART);
    play(new Tally(client), warming);
    Tally tally = new Tally(client);
    play(tally, time.minus(warming));
    requireGood(tally);
    return new Quiet(tally.puts(), tally.gets(), tally.visits(), figures(), client.stat().budgetBytes());
  }

  private static void requireGood(Tally tally) {
    if (tally.failedCalls() > 0 || tally.wrongBlocks() > 0) {
      throw new IllegalStateException("the good client was not served before the attack (%d blocks with wrong"
          .formatted(tally.wrongBlocks()) + " bytes, errors " + tally.errors() + ")");
    }
  }

  /// One call that took long may have waited for a processor that another process had. So the attack is played again
  /// if nothing but that broke, and is compared with a quiet phase right before it.
  private PhaseReport phase(AttackKind kind, Duration time, Quiet quiet) {
    Outcome first = played(kind, time, quiet, List.of());
    if (!first.slowOnly()) {
      return first.report();
    }
    listener.begins(kind.word() + " again, after a quiet phase");
    return played(kind, time, quiet(time), first.report().broken()).report();
  }

  /// @param slowOnly whether nothing broke but bounds on the slowest call
  private record Outcome(PhaseReport report, boolean slowOnly) {}

  private Outcome played(AttackKind kind, Duration time, Quiet quiet, List<String> slowAtFirst) {
    long visible = client.visible();
    Target target = Target.of(client.space(), client.connected().capacityBlocks(), client.kept());
    long drawn = seed + phases.stream().filter(phase -> phase.kind().equals(kind.word())).count();
    SplittableRandom random = new SplittableRandom(drawn);
    Tally tally = new Tally(client);
    Long peak;
    attackers.begin(all -> kind.on(all, target, random));
    try {
      peak = play(tally, time);
    } finally {
      attackers.end();
    }
    long ended = System.nanoTime();
    NodeFigures after = letGo(quiet.node(), ended);
    double seconds = (System.nanoTime() - ended) / 1e9;
    long still = after == null ? 0 : tally.tried("exists", client::visible, 0);
    if (after != null) {
      tally.tried("put", this::keep, 0);
    }
    Bounds bounds = new Bounds().slowest("put", tally.puts(), quiet.puts())
        .slowest("get", tally.gets(), quiet.gets()).kept(visible, still).calls(tally).strangers(attackers.breaches())
        .letGo(after, quiet.node(), seconds)
        .memory(peak, quiet.node().residentBytes(), mostResident(), quiet.budgetBytes());
    List<String> broken = bounds.broken();
    return new Outcome(new PhaseReport(kind.word(), drawn, broken.isEmpty(), time.toMillis() / 1e3, tally.puts(),
        tally.puts().timesOf(quiet.puts()), tally.gets(), tally.gets().timesOf(quiet.gets()), tally.visits(), visible,
        still, tally.failedCalls(), tally.errors(), tally.wrongBlocks(), peak, seconds, after, broken, slowAtFirst),
        bounds.isSlowOnly());
  }

  /// Maximum memory seen in an attack so far; 0 if none was.
  private long mostResident() {
    return phases.stream().map(PhaseReport::peakResidentBytes).filter(Objects::nonNull).mapToLong(each -> each).max()
        .orElse(0);
  }

  /// Lets the good client work for `time`, and a newcomer connect at intervals.
  ///
  /// @return maximum resident memory of the node during that time; null if unknown
  private @Nullable Long play(Tally tally, Duration time) {
    long began = System.nanoTime();
    long end = began + time.toNanos();
    long nextVisit = began + Math.min(VISIT_NANOS, time.toNanos() / 2);
    long peak = 0;
    for (long now = began; now < end; now = System.nanoTime()) {
      tally.round();
      if (System.nanoTime() >= nextVisit) {
        nextVisit = System.nanoTime() + VISIT_NANOS;
        tally.visit();
        Long resident = tally.tried("metrics", this::gauges, Gauges.UNKNOWN).residentBytes();
        peak = Math.max(peak, resident == null ? 0 : resident);
      }
      listener.at(Duration.ofNanos(playedNanos + Math.min(System.nanoTime(), end) - began));
      LockSupport.parkNanos(now + ROUND_NANOS - System.nanoTime());
    }
    playedNanos += time.toNanos();
    return peak == 0 ? null : (Long) peak;
  }

  /// Waits until the node is as idle as before. Returns its figures, or null if it does not answer.
  private @Nullable NodeFigures letGo(NodeFigures quiet, long sinceNanos) {
    NodeFigures last = null;
    while (System.nanoTime() - sinceNanos < (last == null ? MOST_SILENCE : MOST_TO_LET_GO).toNanos()) {
      try {
        last = figures();
        if (last.isAsIdleAs(quiet)) {
          return last;
        }
      } catch (RuntimeException e) { // it recovers; what failed during the attack is counted already
        client.disconnect();
      }
      LockSupport.parkNanos(ROUND_NANOS);
    }
    return last;
  }

  private NodeFigures figures() {
    return NodeFigures.of(client.stat(), gauges());
  }

  private Gauges gauges() {
    try {
      return gauges == null ? Gauges.UNKNOWN : gauges.now();
    } catch (IOException e) {
      throw new UncheckedIOException("the admin endpoint must answer (was silent: " + e.getMessage() + ")", e);
    }
  }
}
