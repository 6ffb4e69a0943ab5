package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

final class DrainTimeTest {
  private static final Duration ALL = Duration.ofSeconds(30);
  private static final Duration LEAST = Duration.ofSeconds(5);

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000); // a clock that comes round meanwhile
  private final DrainTime time = new DrainTime(ALL, LEAST, now::get);

  private void streamsTake(Duration taken) {
    assertThat(time.taken(Mono.fromSupplier(() -> now.addAndGet(taken.toNanos()))).block()).isEqualTo(now.get());
  }

  @Test
  void withoutADrain_levelsHaveAllOfIt() {
    assertThat(time.left()).isEqualTo(ALL);
  }

  @Test
  void levelsHaveWhatStreamsLeft() {
    streamsTake(Duration.ofSeconds(12));
    assertThat(time.left()).isEqualTo(Duration.ofSeconds(18));
  }

  @Test
  void whatIsTakenAfterwards_isTakenFromTheRest() {
    streamsTake(Duration.ofSeconds(12));
    time.taken(Mono.fromRunnable(() -> now.addAndGet(Duration.ofSeconds(5).toNanos()))).block();
    assertThat(time.left()).isEqualTo(Duration.ofSeconds(13));
  }

  @Test
  void levelsHaveALeast_unlessAllIsLess() {
    streamsTake(ALL);
    assertThat(time.left()).isEqualTo(LEAST);

    assertThat(new DrainTime(Duration.ofSeconds(2), LEAST, now::get).left()).isEqualTo(Duration.ofSeconds(2));
  }
}
