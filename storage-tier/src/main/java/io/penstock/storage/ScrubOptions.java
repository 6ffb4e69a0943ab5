package io.penstock.storage;

import io.penstock.check.Checks;
import java.time.Duration;

/// Options of the scrub, which reads an open journal in the background to find damage before a reader needs the block.
///
/// @param bytesPerSecond maximum bytes read in a second; 0 for no scrub
/// @param pass minimum time between the beginnings of two passes over all blocks
public record ScrubOptions(long bytesPerSecond, Duration pass) {
  /// A terabyte takes a day and a half.
  public static final long DEFAULT_BYTES_PER_SECOND = 8 << 20;

  public static final Duration DEFAULT_PASS = Duration.ofDays(1);

  public ScrubOptions {
    if (bytesPerSecond < 0) {
      throw new IllegalArgumentException("bytesPerSecond must be >= 0, 0 for none (was " + bytesPerSecond + ")");
    }
    Checks.notNegative("pass", pass);
  }

  /// 8 MiB a second, a pass a day.
  public static ScrubOptions defaults() {
    return new ScrubOptions(DEFAULT_BYTES_PER_SECOND, DEFAULT_PASS);
  }

  /// No scrub.
  public static ScrubOptions off() {
    return new ScrubOptions(0, DEFAULT_PASS);
  }
}
