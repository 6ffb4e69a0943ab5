package io.penstock.node.client;

import io.penstock.node.option.TimeOption;
import io.penstock.tier.TierHolds.Pin;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The ways to pin blocks on the command line: at most one of them is used.
final class PinOptions {
  @Option(names = "--soft", arity = "0..1", paramLabel = "DURATION", fallbackValue = "30m",
      converter = TimeOption.class,
      description = "Pin softly for so long, 30m if none is given: evicted only when nothing else can be.")
  private @Nullable Duration soft;

  @Option(names = "--hard", description = "Pin until `unpin` or `remove`: never evicted.")
  private boolean hard;

  /// The pin; null if none was given.
  @Nullable Pin given() {
    if (soft != null && hard) {
      throw new IllegalArgumentException("--soft must be left out with --hard (was given)");
    }
    return soft != null ? Pin.soft(soft) : hard ? Pin.hard() : null;
  }
}
