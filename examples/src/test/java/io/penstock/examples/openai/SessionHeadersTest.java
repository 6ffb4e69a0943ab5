package io.penstock.examples.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionUse;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SessionHeadersTest {
  private static HttpHeaders session(String id) {
    return new DefaultHttpHeaders().set("X-Session-Id", id);
  }

  @Test
  void headers_nameASession_orNone() {
    assertThat(SessionHeaders.of(new DefaultHttpHeaders().set("X-Priority", "7"))).isNull();
    assertThat(SessionHeaders.of(session("team-a/chat")))
        .isEqualTo(SessionUse.of(SessionId.of("team-a/chat")));
    assertThat(SessionHeaders.of(session("chat").set("X-Priority", "7").set("X-Session-Keep", "0")))
        .isEqualTo(new SessionUse(SessionId.of("chat"), 7, Duration.ZERO));
  }

  @ParameterizedTest
  @CsvSource({"X-Priority,8", "X-Priority,-1", "X-Priority,high", "X-Session-Keep,3601", "X-Session-Keep,99999999999"})
  void badHeaders_areRefusedByName(String name, String value) {
    assertThatThrownBy(() -> SessionHeaders.of(session("chat").set(name, value))).isInstanceOf(ApiException.class)
        .hasMessageStartingWith(name + " must be from 0 to ");
    assertThatThrownBy(() -> SessionHeaders.of(session("x".repeat(65)))).hasMessage(
        "X-Session-Id must have at most 64 bytes (was 65)");
  }
}
