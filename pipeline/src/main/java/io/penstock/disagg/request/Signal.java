package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.disagg.Incarnation;

/// A message about a request from a receiving rank to a prefill rank.
///
/// @param from the sender
/// @param readers number of ranks that will report that they are done, by the plan; the prefill rank may not know it
///     yet
public record Signal(Kind kind, String request, Incarnation from, int readers) {
  public Signal {
    Checks.positive("readers", readers);
    requireNonNull(kind, "kind");
    requireNonNull(request, "request");
    requireNonNull(from, "from");
  }

  /// The kinds of signals.
  public enum Kind {
    /// The receiver has all bytes that it wanted, or wanted none.
    DONE,
    /// The receiver will still read.
    RENEW,
    /// The receiver stops reading, and the request is over. The prefill rank acknowledges it after it has drained.
    CANCEL,
    /// The receiver never admitted the request. Acknowledged as [#CANCEL] is.
    REJECT
  }
}
