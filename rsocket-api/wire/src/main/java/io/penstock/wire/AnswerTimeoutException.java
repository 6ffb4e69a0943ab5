package io.penstock.wire;

import io.penstock.TransientKvException;
import java.time.Duration;

/// A node owed an answer and said nothing for too long, on a connection that lives on: a damaged frame was dropped
/// without a word, or the node has lost the request. The same request may succeed.
public final class AnswerTimeoutException extends TransientKvException {
  private final String route;
  private final String peer;
  private final Duration timeout;

  AnswerTimeoutException(String route, String peer, Duration timeout) {
    super("answer to " + route + " must come within " + timeout + " from " + peer + " (none did)");
    this.route = route;
    this.peer = peer;
    this.timeout = timeout;
  }

  /// What was asked, see [Routes].
  public String route() {
    return route;
  }

  /// Who was asked, and where.
  public String peer() {
    return peer;
  }

  /// How long the node was silent at least.
  public Duration timeout() {
    return timeout;
  }
}
