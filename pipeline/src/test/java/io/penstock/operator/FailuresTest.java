package io.penstock.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

final class FailuresTest {
  @Test
  void errorThatReactorThrows_becomesAnExceptionWithThatCause() {
    Throwable passable = Failures.passable(new NoSuchFieldError("POJO"));

    assertThat(passable).isInstanceOf(PermanentKvException.class).hasCauseInstanceOf(NoSuchFieldError.class)
        .hasMessage("The work ended with java.lang.NoSuchFieldError: POJO.");
    assertThat(Failures.passable(new OutOfMemoryError("direct"))).isInstanceOf(TransientKvException.class);
    StepVerifier.create(Mono.error(passable).doOnError(error -> {})).verifyError(PermanentKvException.class);
  }

  @Test
  void otherFailures_stayAsTheyAre() {
    IOException checked = new IOException("disk");
    AssertionError wrong = new AssertionError("wrong");
    IllegalStateException unchecked = new IllegalStateException("late");

    assertThat(Failures.passable(checked)).isSameAs(checked);
    assertThat(Failures.passable(wrong)).isSameAs(wrong);
    assertThat(Failures.unchecked(unchecked)).isSameAs(unchecked);
    assertThat(Failures.unchecked(wrong)).hasCause(wrong);
  }
}
