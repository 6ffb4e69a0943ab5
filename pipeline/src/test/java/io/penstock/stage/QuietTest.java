package io.penstock.stage;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

final class QuietTest {
  private final List<Throwable> dropped = new ArrayList<>();
  private final TestPublisher<Integer> source = TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);

  @BeforeEach
  void listen() {
    Hooks.onErrorDropped(dropped::add);
  }

  @AfterEach
  void stopListening() {
    Hooks.resetOnErrorDropped();
  }

  @Test
  void quiet_errorAfterTheCancel_isNobodys() {
    TestSubscriber<Integer> subscriber = TestSubscriber.create();
    Quiet.afterCancel(source.flux()).subscribe(subscriber);
    source.next(1);
    subscriber.cancel();
    source.error(new IllegalStateException("late"));
    assertThat(subscriber.isTerminatedError()).isFalse();
    assertThat(dropped).isEmpty();
  }

  @Test
  void quiet_errorBeforeTheCancel_isPassedOn() {
    StepVerifier.create(Quiet.afterCancel(source.flux())).then(() -> source.next(1).error(new IllegalStateException("boom")))
        .expectNext(1).expectErrorMessage("boom").verify(Duration.ofSeconds(5));
  }
}
