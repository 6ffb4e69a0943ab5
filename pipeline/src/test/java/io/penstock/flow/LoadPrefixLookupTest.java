package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.SlabArena;
import io.penstock.flow.LoadPrefix.Lookup;
import io.penstock.flow.LoadPrefix.Outcome;
import io.penstock.stack.HostTier;
import io.penstock.testkit.FaultyTier;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.BlockTier;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.publisher.PublisherProbe;
import reactor.test.scheduler.VirtualTimeScheduler;

final class LoadPrefixLookupTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final Duration DEADLINE = Duration.ofMillis(20);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("device", StageFixtures.SPACE.layout(), 8, 4));
  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  private HostTier tier;

  @BeforeEach
  void open() {
    tier = FilledTier.of(leaks, arena, List.of(0, 1, 2, 4));
  }

  @AfterEach
  void closeTier() {
    tier.close().block(LIMIT);
    clock.dispose();
  }

  private Mono<Lookup> lookup(BlockTier asked) {
    return LoadPrefix.lookup(asked, StageFixtures.keys(8), DEADLINE, clock);
  }

  @Test
  void answerInTime_isThePrefix() {
    StepVerifier.create(lookup(tier)).expectNext(new Lookup(3, Outcome.ANSWERED, null)).expectComplete().verify(LIMIT);
  }

  @Test
  void tierThatDoesNotAnswer_isAMissAtTheDeadline_andItsWorkIsCancelled() {
    PublisherProbe<Void> work = PublisherProbe.of(Mono.never());
    StepVerifier.create(lookup(new FaultyTier(tier, call -> work.mono())))
        .then(() -> clock.advanceTimeBy(DEADLINE.minusMillis(1))).then(work::assertWasNotCancelled)
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(1)))
        .expectNext(new Lookup(0, Outcome.LATE, null)).expectComplete().verify(LIMIT);
    work.assertWasCancelled();
  }

  @Test
  void error_isAMissThatSaysWhy() {
    IllegalStateException boom = new IllegalStateException("boom");
    StepVerifier.create(lookup(FaultyTier.failing(tier, FaultyTier.Call.MATCH, boom)))
        .expectNext(new Lookup(0, Outcome.FAILED, boom)).expectComplete().verify(LIMIT);
  }

  @Test
  void cancel_endsTheQuestion() {
    PublisherProbe<Void> work = PublisherProbe.of(Mono.never());
    StepVerifier.create(lookup(new FaultyTier(tier, call -> work.mono()))).thenCancel().verify(LIMIT);
    work.assertWasCancelled();
    assertThat(clock.getScheduledTaskCount()).as("timers of the ended question that fire later").isLessThanOrEqualTo(1);
  }
}
