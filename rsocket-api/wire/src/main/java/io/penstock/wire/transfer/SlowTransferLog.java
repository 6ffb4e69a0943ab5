package io.penstock.wire.transfer;

import io.penstock.check.Checks;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One line in the log for each slow batch, with the reasons of its waits.
public final class SlowTransferLog implements TransferListener {
  private static final Logger LOG = LoggerFactory.getLogger(SlowTransferLog.class);

  private final long limitNanos;

  /// @param limit shorter batches are not slow
  public SlowTransferLog(Duration limit) {
    this.limitNanos = Checks.positive("limit", limit).toNanos();
  }

  @Override
  public void finished(BatchReport batch) {
    if (batch.nanos() >= limitNanos && LOG.isWarnEnabled()) {
      LOG.warn(line(batch));
    }
  }

  static String line(BatchReport batch) {
    Times longest = batch.longest();
    int items = batch.result().counts().values().stream().mapToInt(Integer::intValue).sum();
    return "slow transfer: %d ms for %d bytes of %d items, %s, peers %s over %s; longest of an item: "
        .formatted(millis(batch.nanos()), batch.result().bytes(), items, batch.result().counts(), batch.peers(),
            batch.transports())
        + "connect %d ms, queue %d ms, transfer %d ms, verify %d ms".formatted(millis(longest.connect()),
            millis(longest.queue()),
            millis(longest.transfer()), millis(longest.verify()));
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
