package io.penstock.disagg;

import io.penstock.TransientKvException;
import java.time.Duration;

/// A source did not answer, or did not go on, in time.
public final class MoveTimeoutException extends TransientKvException {
  private final Incarnation source;
  private final RequestState state;

  MoveTimeoutException(Incarnation source, RequestState state, Duration patience) {
    super("source " + source + " must leave state " + state + " within " + patience.toMillis() + " ms (did not)");
    this.source = source;
    this.state = state;
  }

  /// The rank that was waited for.
  public Incarnation source() {
    return source;
  }

  /// How far its move had come.
  public RequestState state() {
    return state;
  }
}
