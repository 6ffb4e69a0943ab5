package io.penstock.node.option;

import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Numbers;
import picocli.CommandLine.Option;

/// The option of the commands that turn tokens into seconds of prefill.
public final class PrefillOption {
  @Option(names = "--prefill-rate", paramLabel = "TOKENS",
      description = "Tokens that your engine prefills in a second, to show reused tokens as saved seconds (default:"
          + " 10,000, a round figure and not a measurement).")
  private double rate = ModelSize.DEFAULT_PREFILL_RATE;

  /// Tokens a second.
  ///
  /// @throws IllegalArgumentException if it is not above 0
  public double rate() {
    if (!(rate > 0) || Double.isInfinite(rate)) {
      throw new IllegalArgumentException(
          "--prefill-rate must be > 0 tokens a second (was " + Numbers.plain(rate) + ")");
    }
    return rate;
  }
}
