package io.penstock.cluster.directory;

import io.penstock.check.Checks;
import java.time.Duration;

/// How announcements are sent.
///
/// @param batch most names of blocks in the first batches, and in those after one that failed
/// @param most most names in any batch: as long as batches are sent quickly, they grow, for a name costs less in a
///     large one, and larger ones fill the messages to many members
/// @param linger how long a batch waits for more names
/// @param settle how long to wait after a loss, for losses come in groups
/// @param retry first wait before a batch that failed is sent again; doubles up to 16 times that
public record AnnounceTerms(int batch, int most, Duration linger, Duration settle, Duration retry) {
  private static final int MOST_BATCH = 1 << 16;

  public AnnounceTerms {
    Checks.within("batch", Checks.positive("batch", batch), MOST_BATCH);
    if (most < batch || most > MOST_BATCH) {
      throw new IllegalArgumentException(
          "most must be in [batch " + batch + ", " + MOST_BATCH + "] (was " + most + ")");
    }
    Checks.atLeastOneMilli("linger", linger);
    Checks.atLeastOneMilli("settle", settle);
    Checks.atLeastOneMilli("retry", retry);
  }

  public static AnnounceTerms defaults() {
    return new AnnounceTerms(512, 8192, Duration.ofMillis(3), Duration.ofMillis(300), Duration.ofMillis(100));
  }
}
