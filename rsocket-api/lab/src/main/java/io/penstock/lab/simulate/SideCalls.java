package io.penstock.lab.simulate;

import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.lab.simulate.Scenario.SideCallPlan;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierEvent;
import io.penstock.wire.client.KvClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The calls in addition to the requests.
final class SideCalls {
  private static final Duration HELD = Duration.ofMillis(50);
  private final Scenario scenario;
  private final Scheduler scheduler;
  private final Verdict verdict;

  SideCalls(Scenario scenario, Scheduler scheduler, Verdict verdict) {
    this.scenario = scenario;
    this.scheduler = scheduler;
    this.verdict = verdict;
  }

  /// Always completes: its failure must be typed.
  Mono<Void> run(SideCallPlan plan, SimulatedParty party, List<BlockKey> keys) {
    return Mono.delay(plan.at(), scheduler)
        .then(party.client())
        .flatMap(client -> call(plan, client, keys))
        .timeout(SimulatedParty.PATIENCE, scheduler)
        .onErrorResume(error -> {
          boolean typed =
              error instanceof KvException || (error instanceof TimeoutException && scenario.faults().corrupts());
          if (!typed) {
            verdict.broken(Invariant.EVERY_STREAM_ENDS, plan.sideCall() + " ended with " + error, error);
          }
          verdict.note(plan.sideCall() + " " + error);
          return Mono.empty();
        });
  }

  private Mono<Void> call(SideCallPlan plan, KvClient client, List<BlockKey> keys) {
    return switch (plan.sideCall()) {
      case REMOVE -> client.remove(keys).then();
      case CONTAINS -> client.contains(keys).then();
      case MATCH -> client.match(keys).then();
      case STAT -> client.stat().then();
      case EVENTS -> client.events(0).limitRate(1).takeUntilOther(Mono.delay(HELD, scheduler)).collectList()
          .doOnNext(this::checkNumbers).then();
      case LEASE_UNREAD ->
        held(scope -> client.lease(keys, OnMiss.AWAIT, scope).then(Mono.delay(HELD, scheduler)).then());
      case AWAIT -> held(scope -> client.lease(keys, OnMiss.AWAIT, scope)
          .flatMap(lease -> lease.slices(scope).doOnNext(slice -> slice.close()).then()));
    };
  }

  private static Mono<Void> held(Function<BlockScope, Mono<Void>> body) {
    return Mono.using(BlockScope::new, body, BlockScope::close);
  }

  private void checkNumbers(List<TierEvent> events) {
    long next = 1;
    for (TierEvent event : events) {
      boolean follows = event.sequence() == next
          || (event instanceof TierEvent.Skipped skipped && skipped.sequence() == next - 1 + skipped.count());
      verdict.require(follows || scenario.faults().corrupts(), Invariant.EVENTS_WHOLE,
          "event " + next + " was due, " + event + " came");
      next = event.sequence() + 1;
    }
  }
}
