package io.penstock.wire.server.call;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.wire.Census;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import reactor.test.StepVerifier;

final class RunningStreamsTest {
  private static final Duration SOON = Duration.ofSeconds(5);

  private final RunningStreams running = new RunningStreams();

  @Test
  void none_whenNothingRuns_completesAtOnce() {
    StepVerifier.create(running.none()).expectComplete().verify(SOON);
  }

  @Test
  void none_completesForEveryWaiterWhenTheLastStreamLeaves() {
    running.enter();
    running.enter();

    StepVerifier.create(running.none().and(running.none()))
        .then(running::leave).then(() -> assertEquals(1, running.count()))
        .then(running::leave).expectComplete().verify(SOON);
  }

  @Test
  void none_thatIsCancelled_isForgotten() {
    running.enter();
    Map<String, Integer> before = Census.of(running);

    for (int i = 0; i < 100; i++) {
      running.none().subscribe().dispose();
    }

    assertEquals(before, Census.of(running));
  }
}
