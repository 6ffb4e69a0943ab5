package io.penstock.disagg;

import static java.util.Objects.requireNonNull;

/// What a receiving rank tells a prefill rank about a request.
///
/// @param from who tells it
public record Signal(Kind kind, String request, Incarnation from) {
  public Signal {
    requireNonNull(kind, "kind");
    requireNonNull(request, "request");
    requireNonNull(from, "from");
  }

  /// The kinds of signals.
  public enum Kind {
    /// The receiver has what it wanted, or wanted nothing.
    DONE,
    /// The receiver will still read.
    RENEW,
    /// The receiver reads no more, and the request is over. Acknowledged when the prefill rank has drained.
    CANCEL,
    /// The receiver never admitted the request. Acknowledged as [#CANCEL] is.
    REJECT
  }
}
