package io.penstock.examples.stream;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.node.option.SecondsOption;
import io.penstock.node.text.Sizes;
import java.time.Duration;

/// What a [StreamRun] does. Values that make no sense are refused by the names of their flags.
///
/// @param bytesPerSecond how fast the slow reader reads
/// @param duration how long it reads before it cancels
/// @param streamBytes how long the stream would be
/// @param budgetBytes most bytes in flight towards the slow reader
/// @param second how long a second reader, on a connection of its own, reads at full speed: once alone, once beside the
///     slow one; zero for no second reader
/// @param sampleEvery time between two looks at the gauges
/// @param seed what the bytes are made from
record StreamOptions(long bytesPerSecond, Duration duration, long streamBytes, long budgetBytes, Duration second,
    Duration sampleEvery, long seed) {
  StreamOptions {
    requireNonNull(duration, "duration");
    requireNonNull(second, "second");
    requireNonNull(sampleEvery, "sampleEvery");
    Checks.positive("--rate", bytesPerSecond);
    SecondsOption.positive("--seconds", duration);
    Checks.positive("sampleEvery", sampleEvery);
    if (streamBytes < Shape.BLOCK_BYTES || streamBytes > Shape.MOST_STREAM_BYTES) {
      throw new IllegalArgumentException(
          "--size must be from %s to %s (was %s)".formatted(Sizes.exact(Shape.BLOCK_BYTES),
              Sizes.exact(Shape.MOST_STREAM_BYTES), Sizes.exact(streamBytes)));
    }
    if (budgetBytes < Shape.SLICE_BYTES) {
      throw new IllegalArgumentException("--budget must be >= one slice, %s (was %s)"
          .formatted(Sizes.exact(Shape.SLICE_BYTES), Sizes.exact(budgetBytes)));
    }
    Checks.notNegative("--second", second.toNanos());
  }

  /// 1 MB/s for 3 s of a 2 GB stream, at most 1 MiB in flight, no second reader, ten looks a second.
  static StreamOptions defaults() {
    return new StreamOptions(1_000_000, Duration.ofSeconds(3), 2_000_000_000, 1 << 20, Duration.ZERO,
        Duration.ofMillis(100), 1);
  }

  StreamOptions withRate(long bytesPerSecond) {
    return new StreamOptions(bytesPerSecond, duration, streamBytes, budgetBytes, second, sampleEvery, seed);
  }

  StreamOptions withDuration(Duration duration) {
    return new StreamOptions(bytesPerSecond, duration, streamBytes, budgetBytes, second, sampleEvery, seed);
  }

  StreamOptions withStreamBytes(long streamBytes) {
    return new StreamOptions(bytesPerSecond, duration, streamBytes, budgetBytes, second, sampleEvery, seed);
  }

  StreamOptions withBudgetBytes(long budgetBytes) {
    return new StreamOptions(bytesPerSecond, duration, streamBytes, budgetBytes, second, sampleEvery, seed);
  }

  StreamOptions withSecond(Duration second) {
    return new StreamOptions(bytesPerSecond, duration, streamBytes, budgetBytes, second, sampleEvery, seed);
  }

  StreamOptions withSeed(long seed) {
    return new StreamOptions(bytesPerSecond, duration, streamBytes, budgetBytes, second, sampleEvery, seed);
  }

  /// Most bytes that may be made and not yet read: two windows at the source (one being sent, one ahead), the budget on
  /// the way, and what the reader takes ahead of its pace.
  long boundBytes() {
    return 2L * Shape.WINDOW_BLOCKS * Shape.BLOCK_BYTES + budgetBytes
        + (Shape.READ_AHEAD_SLICES + 1L) * Shape.SLICE_BYTES;
  }
}
