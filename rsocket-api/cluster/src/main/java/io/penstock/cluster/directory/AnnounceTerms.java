package io.penstock.cluster.directory;

import io.penstock.check.Checks;
import java.time.Duration;

/// How announcements are sent.
///
/// @param batch most names of blocks in one batch
/// @param linger how long a batch waits for more names
/// @param settle how long to wait after a loss, for losses come in groups
/// @param retry first wait before a batch that failed is sent again; doubles up to 16 times that
public record AnnounceTerms(int batch, Duration linger, Duration settle, Duration retry) {
  private static final int MOST_BATCH = 1 << 16;

  public AnnounceTerms {
    Checks.within("batch", Checks.positive("batch", batch), MOST_BATCH);
    Checks.atLeastOneMilli("linger", linger);
    Checks.atLeastOneMilli("settle", settle);
    Checks.atLeastOneMilli("retry", retry);
  }

  public static AnnounceTerms defaults() {
    return new AnnounceTerms(512, Duration.ofMillis(3), Duration.ofMillis(300), Duration.ofMillis(100));
  }
}
