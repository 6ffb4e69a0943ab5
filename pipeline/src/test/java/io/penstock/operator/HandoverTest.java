package io.penstock.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testkit.Race;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

@Timeout(60)
final class HandoverTest {
  private final List<Integer> freed = new ArrayList<>();
  private final List<Handover<Integer>> started = new ArrayList<>();
  private final Mono<Integer> mono = Handover.of(started::add, freed::add);

  @Test
  void valueThatIsReceived_isNotFreed() {
    StepVerifier.create(mono).then(() -> started.getFirst().success(1)).expectNext(1).verifyComplete();
    assertThat(freed).isEmpty();
  }

  @Test
  void valueAfterTheCancel_isFreedOnce() {
    mono.subscribe().dispose();
    started.getFirst().success(1);
    assertThat(freed).containsExactly(1);
  }

  @Test
  void valueThatWaitsForARequest_isFreedByTheCancel() {
    StepVerifier.create(mono, 0).then(() -> started.getFirst().success(1)).thenCancel().verify();
    assertThat(freed).containsExactly(1);
  }

  @Test
  void error_reachesTheSubscriber() {
    StepVerifier.create(mono).then(() -> started.getFirst().error(new IllegalStateException("none")))
        .verifyErrorMessage("none");
  }

  @Test
  void eachSubscriber_hasAHandoverOfItsOwn() {
    StepVerifier.create(mono.zipWith(mono)).then(() -> started.get(0).success(1)).then(() -> started.get(1).success(2))
        .expectNextCount(1).verifyComplete();
  }

  /// A value is received or freed, whichever moment the cancel hits.
  @Test
  void cancelAndValueAtOnce_loseNothing() {
    int rounds = 20_000;
    try (Race race = new Race(2)) {
      for (int round = 0; round < rounds; round++) {
        AtomicInteger owners = new AtomicInteger();
        List<Handover<Integer>> begun = new ArrayList<>();
        BaseSubscriber<Integer> subscriber = new BaseSubscriber<>() {
          @Override
          protected void hookOnNext(Integer value) {
            owners.incrementAndGet();
          }
        };
        Handover.<Integer>of(begun::add, value -> owners.incrementAndGet()).subscribe(subscriber);
        race.run(() -> begun.getFirst().success(1), subscriber::cancel);
        assertThat(owners).as("round %d", round).hasPositiveValue();
      }
    }
  }

  @Test
  void workIsCancelledBeforeItsValue_andNotAfterIt() {
    Sinks.One<Integer> value = Sinks.one();
    AtomicInteger cancelled = new AtomicInteger();
    Mono<Integer> handed =
        Handover.of(value.asMono().doOnCancel(cancelled::incrementAndGet), freed::add);

    handed.subscribe().dispose();
    assertThat(cancelled).hasValue(1);
    Disposable taken = handed.flatMap(one -> Mono.never()).subscribe();
    value.tryEmitValue(7);
    taken.dispose();

    assertThat(cancelled).as("the value had an owner").hasValue(1);
    assertThat(freed).isEmpty();
  }
}
