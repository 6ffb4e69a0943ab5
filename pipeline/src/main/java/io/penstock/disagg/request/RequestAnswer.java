package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/// What became of a [Signal], or of another question about a request, at a prefill rank. An answer that only
/// acknowledges would be equal for a lease that was renewed and for one that was over.
///
/// @param release end that the request had before; null unless the outcome is [Outcome#OVER]
public record RequestAnswer(Outcome outcome, @Nullable Release release) {
  public RequestAnswer {
    requireNonNull(outcome, "outcome");
    if ((outcome == Outcome.OVER) != (release != null)) {
      throw new IllegalArgumentException(
          "release must be given with OVER alone (was " + release + ", " + outcome + ")");
    }
  }

  static RequestAnswer of(Outcome outcome) {
    return new RequestAnswer(outcome, null);
  }

  static RequestAnswer over(Release release) {
    return new RequestAnswer(Outcome.OVER, release);
  }

  /// Whether the rank keeps the blocks of the request for the one who asked.
  public boolean isKept() {
    return outcome == Outcome.APPLIED || outcome == Outcome.REPEATED;
  }

  /// Possible outcomes.
  public enum Outcome {
    /// The rank kept the request, and did what was asked.
    APPLIED,
    /// Only signals of the request have come: this one counts if the rank keeps the request soon.
    EARLY,
    /// The rank keeps the request, and had done this before.
    REPEATED,
    /// Too late: the request had ended, and its blocks were given up.
    OVER,
    /// Ignored: the sender has started again since.
    STALE,
    /// Ignored: the sender is no receiver of the request.
    STRANGER,
    /// Ignored: the rank has no room to remember it.
    FULL,
    /// The rank does not know the request: it never kept it, or has forgotten it.
    UNKNOWN,
    /// The rank acknowledged, and did not say more: it runs an earlier release.
    ACKNOWLEDGED
  }
}
