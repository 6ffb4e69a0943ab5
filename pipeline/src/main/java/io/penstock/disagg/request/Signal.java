package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.disagg.Incarnation;

/// What a receiving rank tells a prefill rank about a request.
///
/// @param from who tells it
/// @param readers how many ranks will say that they are done, by the plan: the prefill rank may not know it yet
public record Signal(Kind kind, String request, Incarnation from, int readers) {
  public Signal {
    Checks.positive("readers", readers);
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
