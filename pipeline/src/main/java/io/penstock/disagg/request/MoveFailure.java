package io.penstock.disagg.request;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import io.penstock.disagg.Incarnation;
import java.time.Duration;

/// A source did not send its blocks.
public sealed interface MoveFailure {
  /// The rank that was to send them.
  Incarnation source();

  /// A source did not answer, or did not continue, in time.
  final class MoveTimeoutException extends TransientKvException implements MoveFailure {
    private final Incarnation source;
    private final RequestState state;

    MoveTimeoutException(Incarnation source, RequestState state, Duration patience) {
      super("source " + source + " must leave state " + state + " within " + patience.toMillis() + " ms (did not)");
      this.source = source;
      this.state = state;
    }

    @Override
    public Incarnation source() {
      return source;
    }

    /// How far its move had come.
    public RequestState state() {
      return state;
    }
  }

  /// The process of a source is gone, and its blocks with it.
  final class PeerRestartedException extends PermanentKvException implements MoveFailure {
    private final Incarnation source;

    PeerRestartedException(Incarnation source) {
      super("source must be " + source + " (is gone)");
      this.source = source;
    }

    @Override
    public Incarnation source() {
      return source;
    }
  }

  /// A source has given up the blocks before they came, as it answered to a renewal: a retry finds nothing there.
  final class BlocksReleasedException extends PermanentKvException implements MoveFailure {
    private final Incarnation source;
    private final Release release;

    BlocksReleasedException(Incarnation source, Release release) {
      super("source " + source + " must keep the blocks until they have come (the request is over there: " + release
          + ")");
      this.source = source;
      this.release = release;
    }

    @Override
    public Incarnation source() {
      return source;
    }

    /// How the request ended at the source.
    public Release release() {
      return release;
    }
  }
}
