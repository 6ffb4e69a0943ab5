package io.penstock.wire.transfer;

import io.penstock.check.Checks;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One line in the log for each slow batch, with the reasons of its waits.
public final class SlowTransferLog implements TransferListener {
  private static final Logger LOG = LoggerFactory.getLogger(SlowTransferLog.class);
  static final String PATTERN = "slow transfer: {} ms for {} bytes of {} items, {}, peers {} over {}; "
      + "longest of an item: connect {} ms, queue {} ms, transfer {} ms, verify {} ms";

  private final long limitNanos;

  /// @param limit shorter batches are not slow
  public SlowTransferLog(Duration limit) {
    this.limitNanos = Checks.positive("limit", limit).toNanos();
  }

  @Override
  public void finished(BatchReport batch) {
    if (batch.nanos() >= limitNanos && LOG.isWarnEnabled()) {
      LOG.warn(PATTERN, arguments(batch));
    }
  }

  static Object[] arguments(BatchReport batch) {
    Times longest = batch.longest();
    return new Object[] {millis(batch.nanos()), batch.result().bytes(),
      batch.result().counts().values().stream().mapToInt(Integer::intValue).sum(), batch.result().counts(),
      batch.peers(), batch.transports(), millis(longest.connect()), millis(longest.queue()),
      millis(longest.transfer()), millis(longest.verify())};
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
