package io.penstock.wire.client.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

final class FirstMessageTest {
  /// No record of the protocol: the codec cannot write it.
  private static final Object UNWRITABLE = new Object();

  @Test
  void messageThatCannotBeWritten_failsBeforeAConnectionIsMade() {
    AtomicBoolean connecting = new AtomicBoolean();

    StepVerifier.create(FirstMessage.encoded("hello", UNWRITABLE, first -> {
      connecting.set(true);
      return Mono.just(first);
    })).verifyErrorMatches(error -> error instanceof IllegalStateException && error.getCause() != null);

    assertThat(connecting).isFalse();
  }
}
