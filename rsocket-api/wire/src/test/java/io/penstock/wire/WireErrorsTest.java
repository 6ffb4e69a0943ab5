package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.tier.TierClosedException;
import io.rsocket.RSocketErrorException;
import io.rsocket.exceptions.CustomRSocketException;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.Test;
import reactor.core.Exceptions;

final class WireErrorsTest {
  @Test
  void severalFailuresOfOneStream_areToldAsTheFirst() {
    Throwable both = Exceptions.multiple(new TierClosedException("ssd"), new IllegalStateException("what came of it"));
    assertThat(WireErrors.toWire(both)).isInstanceOfSatisfying(RSocketErrorException.class, told -> {
      assertThat(told.errorCode()).isEqualTo(ErrorCode.TIER_CLOSED.code());
      assertThat(told).hasMessage(new TierClosedException("ssd").getMessage());
    });
  }

  @Test
  void severalFailuresOfAConnection_areTheFirst() {
    int code = ErrorCode.DRAINING.code();
    assertThat(WireErrors.fromWire(
        Exceptions.multiple(new CustomRSocketException(code, "drains"), new ClosedChannelException()), "the node"))
        .isInstanceOfSatisfying(RemoteTransientException.class, told -> assertThat(told.code()).isEqualTo(code));
  }
}
