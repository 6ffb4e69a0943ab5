package io.penstock.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testkit.Race;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;
import reactor.test.subscriber.TestSubscriber;

@Timeout(60)
final class InTurnTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int REQUESTS = 1_000;

  @Test
  void second_comesAfterFirst_underOneDemand() {
    StepVerifier.create(InTurn.of(Flux.range(0, 3), Flux.range(3, 3)), 2)
        .expectNext(0, 1).thenRequest(3).expectNext(2, 3, 4).thenRequest(1).expectNext(5).expectComplete()
        .verify(LIMIT);
    StepVerifier.create(InTurn.of(Mono.just("ignored"), Flux.range(0, 2)), 1)
        .expectNext(0).thenRequest(1).expectNext(1).expectComplete().verify(LIMIT);
  }

  @Test
  void error_ofTheFirst_isTheStreams() {
    AtomicBoolean subscribed = new AtomicBoolean();
    Flux<Integer> second = Flux.<Integer>empty().doOnSubscribe(subscription -> subscribed.set(true));
    StepVerifier.create(InTurn.of(Flux.error(new IllegalStateException("first")), second)).expectErrorMessage("first")
        .verify(LIMIT);
    StepVerifier.create(InTurn.of(Mono.error(new IllegalStateException("first")), second)).expectErrorMessage("first")
        .verify(LIMIT);
    assertThat(subscribed).isFalse();
  }

  /// What `concatWith` loses: the first source ends empty at the moment of a request.
  @Test
  void request_whileTheFirstEndsEmpty_isNotLost() {
    request_whileTheFirstEndsEmpty_isNotLost(500);
  }

  @Tag("proof")
  @Test
  void request_whileTheFirstEndsEmpty_isNotLost_atLength() {
    request_whileTheFirstEndsEmpty_isNotLost(3_000);
  }

  private void request_whileTheFirstEndsEmpty_isNotLost(int races) {
    try (Race race = new Race(2)) {
      for (int i = 0; i < races; i++) {
        Sinks.Empty<Integer> first = Sinks.empty();
        assertRequestArrives(race, first, InTurn.of(first.asMono().flux(), Flux.range(0, REQUESTS)));
        Sinks.Empty<Integer> before = Sinks.empty();
        assertRequestArrives(race, before, InTurn.of(before.asMono(), Flux.range(0, REQUESTS)));
      }
    }
  }

  private static void assertRequestArrives(Race race, Sinks.Empty<Integer> first, Flux<Integer> both) {
    TestSubscriber<Integer> reader = TestSubscriber.builder().initialRequest(0).build();
    both.subscribe(reader);
    race.run(first::tryEmitEmpty, () -> {
      for (int i = 0; i < REQUESTS; i++) {
        reader.request(1);
      }
    });
    reader.block(LIMIT);
    assertThat(reader.getReceivedOnNext()).hasSize(REQUESTS);
  }
}
