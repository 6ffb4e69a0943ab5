package io.penstock.s3.serve;

import io.penstock.node.text.Reason;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes refused requests into the log, at most one a second: the next line says how many had none. Misses, conditions
/// that do not hold, bodies whose connection ended, and failures of the node are no refusals. Safe from any thread.
final class RefusalLog {
  private static final Logger LOG = LoggerFactory.getLogger(RefusalLog.class);
  private static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int MOST_CHARACTERS = 300;
  private static final Set<S3Code> ORDINARY = Set.of(S3Code.NO_SUCH_KEY, S3Code.NO_SUCH_UPLOAD,
      S3Code.PRECONDITION_FAILED, S3Code.INVALID_RANGE, S3Code.INCOMPLETE_BODY, S3Code.SLOW_DOWN,
      S3Code.SERVICE_UNAVAILABLE, S3Code.INTERNAL_ERROR);

  private final LongSupplier nanos;
  private final AtomicLong next;
  private final AtomicLong without = new AtomicLong();

  RefusalLog(LongSupplier nanos) {
    this.nanos = nanos;
    this.next = new AtomicLong(nanos.getAsLong());
  }

  /// @param from address of the client
  void add(S3Exception refusal, Object from) {
    if (ORDINARY.contains(refusal.code())) {
      return;
    }
    long now = nanos.getAsLong();
    long due = next.get();
    if (now - due < 0 || !next.compareAndSet(due, now + EACH_NANOS)) {
      without.incrementAndGet();
      return;
    }
    String why = Reason.printable(refusal.code().text() + ", " + refusal.getMessage());
    long more = without.getAndSet(0);
    LOG.warn("a request of the door s3 was refused: {}; from {}{}",
        why.substring(0, Math.min(MOST_CHARACTERS, why.length())), from,
        more == 0 ? "" : " (" + more + " more since the line before)");
  }
}
