package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Checks;

/// How far the destinations of a [FanOut] may lie behind the source, and what happens to one that would lie further
/// behind.
///
/// @param lagElements most elements that wait for one destination
/// @param lagBytes bytes that wait for one destination before it counts as full; at most one element more than this
///     waits
/// @param whenFull what a full destination means for the others
public record FanOutOptions(int lagElements, long lagBytes, WhenFull whenFull) {
  /// What a full destination means for the others.
  public enum WhenFull {
    /// The source waits for it, and with the source everybody else.
    HOLD,
    /// It is dropped, with a [LaggedException], when the next element comes; the others go on.
    DROP
  }

  public FanOutOptions {
    Checks.positive("lagElements", lagElements);
    Checks.positive("lagBytes", lagBytes);
    requireNonNull(whenFull, "whenFull");
  }

  /// 32 elements or 8 MiB behind, then the source waits.
  public static FanOutOptions defaults() {
    return new FanOutOptions(32, 8L << 20, WhenFull.HOLD);
  }

  public FanOutOptions withLagElements(int lagElements) {
    return new FanOutOptions(lagElements, lagBytes, whenFull);
  }

  public FanOutOptions withLagBytes(long lagBytes) {
    return new FanOutOptions(lagElements, lagBytes, whenFull);
  }

  public FanOutOptions withWhenFull(WhenFull whenFull) {
    return new FanOutOptions(lagElements, lagBytes, whenFull);
  }
}
