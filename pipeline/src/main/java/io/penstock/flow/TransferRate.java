package io.penstock.flow;

import io.penstock.check.Checks;
import io.penstock.flow.LoadPrefix.Rate;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Estimates the time of transfers from one place: a latency and a bandwidth, learnt from earlier transfers.
///
/// The model is *time = latency + bytes ÷ bandwidth*, fitted by least squares to all transfers, each with a weight that
/// halves with every half-life. If all transfers were of about one size, or larger ones were not slower, the latency
/// cannot be estimated and is 0. Before the first transfer there is no estimate.
///
/// Transfers at the same time share the place: a time counts divided by the transfers that ran in parallel, and a new
/// transfer waits for the bytes that are still under way. Memory is fixed. Safe from any thread.
final class TransferRate {
  /// Minimum relative deviation of sizes from which a latency is estimated.
  private static final double LEAST_SPREAD = 0.01;

  private final double halfLifeNanos;
  // Weighted sums over the transfers: of 1, bytes, nanos, bytes², bytes × nanos
  private double weight;
  private double bytes;
  private double nanos;
  private double bytesSquared;
  private double bytesNanos;
  private long lastNanos;
  private boolean observed;
  private long queuedBytes;
  private int active;

  TransferRate(Duration halfLife) {
    this.halfLifeNanos = Checks.positive("halfLife", halfLife).toNanos();
  }

  /// The estimate; null before the first transfer has ended, and if the last one ended `freshNanos` ago or earlier and
  /// none is under way. So a place that was slow once is tried again, by one request at a time.
  synchronized @Nullable Rate estimate(long nowNanos, long freshNanos) {
    if (!observed || (active == 0 && nowNanos - lastNanos >= freshNanos)) {
      return null;
    }
    double nanosPerByte = Math.max(Double.MIN_NORMAL, slope());
    long latency = Math.max(0, Math.round((nanos - nanosPerByte * bytes) / weight));
    return new Rate(Duration.ofSeconds(1).toNanos() / nanosPerByte, latency, queuedBytes);
  }

  private double slope() {
    double mean = nanos / bytes;
    double spread = weight * bytesSquared - bytes * bytes;
    double fitted = (weight * bytesNanos - bytes * nanos) / spread;
    boolean tells = spread > LEAST_SPREAD * LEAST_SPREAD * bytes * bytes;
    return tells && fitted > 0 && fitted < mean ? fitted : mean;
  }

  /// Begins a transfer of `bytes`.
  synchronized Transfer begin(long bytes) {
    queuedBytes += Checks.notNegative("bytes", bytes);
    active++;
    return new Transfer(bytes, active);
  }

  private void observe(long arrived, double took, long nowNanos) {
    double kept = observed ? Math.pow(0.5, Math.max(0, nowNanos - lastNanos) / halfLifeNanos) : 0;
    weight = weight * kept + 1;
    bytes = bytes * kept + arrived;
    nanos = nanos * kept + took;
    bytesSquared = bytesSquared * kept + (double) arrived * arrived;
    bytesNanos = bytesNanos * kept + arrived * took;
    lastNanos = nowNanos;
    observed = true;
  }

  /// A transfer under way.
  final class Transfer {
    private final int activeAtStart;
    private long left;
    private long arrived;
    private boolean over;

    private Transfer(long bytes, int activeAtStart) {
      this.left = bytes;
      this.activeAtStart = activeAtStart;
    }

    /// `bytes` of it arrived.
    void arrived(long bytes) {
      synchronized (TransferRate.this) {
        long expected = Math.min(left, bytes);
        arrived += bytes;
        left -= expected;
        queuedBytes -= expected;
      }
    }

    /// Ends the transfer. The bytes that arrived count, even if some are missing; a transfer without bytes does not
    /// count.
    ///
    /// @param waitedNanos how long its reader waited for bytes
    void end(long waitedNanos, long nowNanos) {
      synchronized (TransferRate.this) {
        if (over) {
          return;
        }
        over = true;
        queuedBytes -= left;
        if (arrived > 0) {
          observe(arrived, Math.max(1, waitedNanos) * 2.0 / (activeAtStart + active), nowNanos);
        }
        active--;
      }
    }
  }
}
