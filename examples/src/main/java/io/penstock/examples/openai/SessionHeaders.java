package io.penstock.examples.openai;

import io.netty.handler.codec.http.HttpHeaders;
import io.penstock.block.session.SessionBounds;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionUse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The session of a request, as its headers name it: `X-Session-Id`, and with it `X-Priority` (0 to 7) and
/// `X-Session-Keep` (seconds).
final class SessionHeaders {
  private static final String ID = "X-Session-Id";
  private static final String PRIORITY = "X-Priority";
  private static final String KEEP = "X-Session-Keep";

  private SessionHeaders() {}

  /// Null if the headers name none.
  static @Nullable SessionUse of(HttpHeaders headers) {
    String id = headers.get(ID, "");
    if (id.isEmpty()) {
      return null;
    }
    byte[] name = id.getBytes(StandardCharsets.UTF_8);
    if (name.length > SessionId.MOST_BYTES) {
      throw ApiException
          .badRequest("%s must have at most %d bytes (was %d)".formatted(ID, SessionId.MOST_BYTES, name.length));
    }
    int priority = number(headers, PRIORITY, SessionUse.DEFAULT_PRIORITY, SessionUse.MOST_PRIORITY);
    int keep = number(headers, KEEP, -1, (int) SessionBounds.MOST_KEEP.toSeconds());
    return new SessionUse(SessionId.of(name), priority, keep < 0 ? null : Duration.ofSeconds(keep));
  }

  private static int number(HttpHeaders headers, String name, int otherwise, int most) {
    String given = headers.get(name);
    if (given == null) {
      return otherwise;
    }
    if (!given.matches("[0-9]{1,4}") || Integer.parseInt(given) > most) {
      throw ApiException.badRequest("%s must be from 0 to %d (was %s)".formatted(name, most,
          given.length() > 16 ? "longer" : given));
    }
    return Integer.parseInt(given);
  }
}
