package io.penstock.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class TrampolineTest {
  private final AtomicInteger runs = new AtomicInteger();

  @Test
  void more_afterOneThatThrew_runs() {
    Trampoline starts = new Trampoline(() -> {
      if (runs.incrementAndGet() == 1) {
        throw new IllegalStateException("first");
      }
    });
    assertThatThrownBy(starts::run).hasMessage("first");
    starts.run();
    assertThat(runs).hasValue(2);
  }

  @Test
  void more_askedForByOneThatThrows_runs() {
    AtomicReference<Trampoline> self = new AtomicReference<>();
    Trampoline starts = new Trampoline(() -> {
      if (runs.incrementAndGet() == 1) {
        self.get().run();
        throw new IllegalStateException("first");
      }
    });
    self.set(starts);
    assertThatThrownBy(starts::run).hasMessage("first");
    assertThat(runs).hasValue(2);
    starts.run();
    assertThat(runs).hasValue(3);
  }
}
