package io.penstock.gateway.http;

import io.netty.handler.codec.http.HttpHeaders;
import io.penstock.block.session.SessionBounds;
import io.penstock.block.session.SessionId;
import io.penstock.gateway.api.ApiException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The session of a request, as engines and their pool know it.
final class SessionNames {
  static final String ID = "X-Session-Id";
  static final String PRIORITY = "X-Priority";
  static final String KEEP = "X-Session-Keep";
  /// Longest name that a client may give.
  static final int MAX_CHARS = 256;
  private static final int DIGEST_BYTES = 16;

  private SessionNames() {}

  /// The name of a session in the pool: behind its tenant, so that no tenant reaches the sessions of another. A name
  /// that is too long, or has characters that no header has, is a digest.
  ///
  /// @param tenant null if there are no tenants
  static String inPool(@Nullable String tenant, String given) {
    String name = tenant == null ? given : tenant + "/" + given;
    return name.length() <= SessionId.MOST_BYTES && name.matches("[\\x21-\\x7d]+") ? name : digest(name);
  }

  private static String digest(String name) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
      return "~" + HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /// Adds what an engine shall know of a session.
  static void add(String name, int priority, @Nullable Duration keep, Map<String, String> headers) {
    headers.put(ID, name);
    headers.put(PRIORITY, String.valueOf(priority));
    if (keep != null) {
      headers.put(KEEP, String.valueOf(keep.toSeconds()));
    }
  }

  /// How long the blocks of a session shall be kept after a request; null if the client does not say.
  static @Nullable Duration keep(HttpHeaders headers) {
    String given = headers.get(KEEP);
    return given == null ? null : keep(KEEP, given);
  }

  static Duration keep(String name, String given) {
    long most = SessionBounds.MOST_KEEP.toSeconds();
    if (!given.matches("[0-9]{1,4}") || Integer.parseInt(given) > most) {
      throw ApiException.header(name, "from 0 to " + most + " seconds", given);
    }
    return Duration.ofSeconds(Integer.parseInt(given));
  }
}
