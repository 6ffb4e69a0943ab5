package io.penstock.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class StartsTest {
  private final AtomicInteger runs = new AtomicInteger();

  @Test
  void more_afterOneThatThrew_runs() {
    Starts starts = new Starts(() -> {
      if (runs.incrementAndGet() == 1) {
        throw new IllegalStateException("first");
      }
    });
    assertThatThrownBy(starts::more).hasMessage("first");
    starts.more();
    assertThat(runs).hasValue(2);
  }

  @Test
  void more_askedForByOneThatThrows_runs() {
    AtomicReference<Starts> self = new AtomicReference<>();
    Starts starts = new Starts(() -> {
      if (runs.incrementAndGet() == 1) {
        self.get().more();
        throw new IllegalStateException("first");
      }
    });
    self.set(starts);
    assertThatThrownBy(starts::more).hasMessage("first");
    assertThat(runs).hasValue(2);
    starts.more();
    assertThat(runs).hasValue(3);
  }
}
