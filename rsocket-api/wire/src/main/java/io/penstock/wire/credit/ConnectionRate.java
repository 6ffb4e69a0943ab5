package io.penstock.wire.credit;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.operator.TokenBucket;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFailure.RateLimitedException;
import io.penstock.wire.report.Carried;
import io.penstock.wire.report.StreamListener;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/// Rate limit of one connection for requests and for bytes of blocks: the node refuses requests above it; bytes wait
/// for their credit. Each may come in a burst of one second. Safe from any thread.
public final class ConnectionRate {
  private final Rates rates;
  private final Scheduler timers;
  private final StreamListener listener;
  @GuardedBy("this") private final @Nullable TokenBucket requests;
  @GuardedBy("this") private final @Nullable TokenBucket bytes;

  /// @param timers clock of the rates, and of the waits for bytes
  /// @param listener receives requests and bytes that the rates delay
  public ConnectionRate(Rates rates, Scheduler timers, StreamListener listener) {
    this.rates = rates;
    this.timers = timers;
    this.listener = listener;
    this.requests = rates.requests() == 0 ? null : bucket(rates.requests());
    this.bytes = rates.bytes() == 0 ? null : bucket(rates.bytes());
  }

  private TokenBucket bucket(long perSecond) {
    return new TokenBucket(perSecond, perSecond, now());
  }

  private long now() {
    return timers.now(TimeUnit.NANOSECONDS);
  }

  /// Counts a request.
  ///
  /// @throws RateLimitedException if it is one too many
  public void admit(String route) {
    if (rates.requests() == 0 || Routes.isUnlimited(route)) {
      return;
    }
    long wait = waitOfRequest();
    if (wait > 0) {
      listener.requestRefused();
      throw new RateLimitedException(rates.requests(), Duration.ofNanos(wait));
    }
  }

  private synchronized long waitOfRequest() {
    if (requests == null) {
      return 0;
    }
    long wait = requests.waitNanos(1, now());
    return wait > 0 ? wait : requests.take(1, now());
  }

  /// Wraps `budget` for outgoing bytes: bytes are charged as they are taken.
  public Budget outgoing(Budget budget) {
    return rates.bytes() == 0 ? budget : new RateBudget(budget, this, timers, false);
  }

  /// Wraps `budget` for incoming bytes: a slice is charged at its maximum when it is requested, and at its bytes when
  /// it has arrived.
  public Budget incoming(Budget budget) {
    return rates.bytes() == 0 ? budget : new RateBudget(budget, this, timers, true);
  }

  /// `all`, with the charge for arrived bytes.
  public Carried counted(Carried all) {
    return rates.bytes() == 0 ? all : (moved, byReference) -> {
      take(moved);
      all.count(moved, byReference);
    };
  }

  /// Takes `count` bytes, and answers how long they must wait.
  synchronized long take(long count) {
    return bytes == null ? 0 : bytes.take(count, now());
  }

  /// Takes `count` bytes if they need not wait.
  synchronized boolean tryTake(long count) {
    return bytes == null || (bytes.waitNanos(count, now()) == 0 && bytes.take(count, now()) == 0);
  }

  synchronized void giveBack(long count) {
    if (bytes != null) {
      bytes.giveBack(count);
    }
  }

  void delayed(long nanos) {
    listener.bytesDelayed(nanos);
  }
}
