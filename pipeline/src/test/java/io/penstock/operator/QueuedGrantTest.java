package io.penstock.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

final class QueuedGrantTest {
  private final List<QueuedGrant<String>> queue = new ArrayList<>();
  private final List<String> events = new ArrayList<>();
  private final Mono<String> turn = QueuedGrant.of(grant -> {
    queue.add(grant);
    return () -> events.add("left");
  });

  private void grant(int place) {
    queue.get(place).granted(() -> "grant", () -> events.add("given back"));
  }

  @Test
  void placeIsTaken_atTheFirstRequest_once() {
    StepVerifier.create(turn, 0).then(() -> assertThat(queue).isEmpty()).thenRequest(1).thenRequest(1)
        .then(() -> assertThat(queue).hasSize(1)).then(() -> grant(0)).expectNext("grant").verifyComplete();
    assertThat(events).isEmpty();
  }

  @Test
  void cancelLeaves_andALateGrantGoesBack() {
    Disposable waiting = turn.subscribe(events::add);
    waiting.dispose();
    grant(0);
    queue.getFirst().refused(new IllegalStateException("late"));

    assertThat(events).containsExactly("left", "given back");
  }

  @Test
  void refusalEndsIt_andALateGrantGoesBack() {
    StepVerifier.create(turn).then(() -> queue.getFirst().refused(new IllegalStateException("full")))
        .verifyErrorMessage("full");
    grant(0);

    assertThat(events).containsExactly("given back");
  }

  @Test
  void queueThatThrows_fails() {
    StepVerifier.create(QueuedGrant.of(grant -> {
      throw new IllegalStateException("closed");
    })).verifyErrorMessage("closed");
  }
}
