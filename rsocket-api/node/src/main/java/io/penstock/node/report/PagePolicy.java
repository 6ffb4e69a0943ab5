package io.penstock.node.report;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;

/// Security policy of a page: it loads nothing, and only the scripts and the style that it names count.
public final class PagePolicy {
  private PagePolicy() {}

  /// @param style of the page, letter by letter
  /// @param scripts of the page, likewise; none may run if there are none
  public static String of(String style, List<String> scripts) {
    return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + digest(style)
        + (scripts.isEmpty()
            ? ""
            : "; script-src " + scripts.stream().map(PagePolicy::digest).collect(Collectors.joining(" ")));
  }

  private static String digest(String text) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK must have SHA-256", e);
    }
  }
}
