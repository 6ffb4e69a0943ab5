package io.penstock.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DemandLoopTest {
  private final List<String> signals = new ArrayList<>();

  /// Emits while there is demand; the third element throws.
  private final class Numbers extends DemandLoop {
    private int next;

    @Override
    void emit() {
      while (isWanted()) {
        spend();
        if (++next == 3) {
          throw new IllegalStateException("third");
        }
        signals.add("" + next);
      }
    }

    @Override
    void fail(Throwable error) {
      signals.add(error.getMessage());
    }

    @Override
    public void cancel() {}
  }

  private final Numbers stream = new Numbers();

  @Test
  void nothingIsEmitted_beforeTheStreamIsOpen() {
    stream.request(1);
    assertThat(signals).isEmpty();

    stream.open();

    assertThat(signals).containsExactly("1");
  }

  @Test
  void emissionThatThrows_failsTheStream_andKeepsItFromNothing() {
    stream.open();
    assertThatCode(() -> stream.request(3)).doesNotThrowAnyException();
    assertThat(signals).containsExactly("1", "2", "third");

    stream.request(1);

    assertThat(signals).last().isEqualTo("4");
  }

  @Test
  void requestForNothing_failsTheStream_andIsNoDemand() {
    stream.open();
    stream.request(-1);

    assertThat(signals).containsExactly("request must be > 0 (was -1), Reactive Streams rule 3.9");
    assertThat(stream.isWanted()).isFalse();
  }
}
