package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.tiers.Endings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

final class EndingsTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final List<String> closed = new ArrayList<>();

  @Test
  void inOrder_withOneThatFails_closesTheRestAndTells() {
    StepVerifier.create(Endings.inOrder(List.of(close("a"), Mono.error(new IllegalStateException("b")), close("c"))))
        .expectErrorMessage("b").verify(LIMIT);

    assertThat(closed).containsExactly("a", "c");
  }

  @Test
  void after_failsWithTheFirstError_andKeepsTheSecond() {
    StepVerifier
        .create(Endings.after(new IllegalStateException("first"),
            close("a").then(Mono.error(new IllegalStateException("second")))))
        .expectErrorSatisfies(
            e -> assertThat(e).hasMessage("first").hasSuppressedException(new IllegalStateException("second")))
        .verify(LIMIT);

    assertThat(closed).containsExactly("a");
  }

  private Mono<Void> close(String name) {
    return Mono.fromRunnable(() -> closed.add(name));
  }
}
