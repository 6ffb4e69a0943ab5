package io.penstock.gateway.relay;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Uncaught;
import io.penstock.gateway.api.ApiException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.SequencedSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// The queue before the engines. A request runs at once while fewer than the capacity run; otherwise it waits, greater
/// priorities first, and within a priority in the order in which requests came.
///
/// - A full queue refuses with 503. A request of a greater priority takes the place of the last one of the least
///   priority, which is refused instead.
/// - With a goal, a request that would wait is refused with 429 when it cannot reach the goal. The estimate is live:
///   the mean time that a request holds its place, and the mean time from its begin to its first token.
/// - Threads: any. Refusals cost one lock.
public final class Admission {
  private static final int REFUSED = 503;
  private static final int LATE = 429;
  /// The share of the newest value in a mean.
  private static final double NEWEST = 0.1;
  private static final double NANOS = 1e9;

  private final AdmissionOptions options;
  private final IntSupplier capacity;
  private final Scheduler timer;
  private final Queue<Runnable> signals = new ConcurrentLinkedQueue<>();
  private final AtomicInteger signalling = new AtomicInteger();
  @GuardedBy("this") private final List<SequencedSet<Ticket>> queues = new ArrayList<>();
  @GuardedBy("this") private int running;
  @GuardedBy("this") private int waiting;
  @GuardedBy("this") private double meanHeld;
  @GuardedBy("this") private double meanFirst;

  /// @param capacity requests that may run now; at least one may
  /// @param timer the clock
  public Admission(AdmissionOptions options, IntSupplier capacity, Scheduler timer) {
    this.options = options;
    this.capacity = capacity;
    this.timer = timer;
    for (int priority = 0; priority <= RelayRequest.MAX_PRIORITY; priority++) {
      queues.add(new LinkedHashSet<>());
    }
  }

  /// Requests that run.
  public synchronized int running() {
    return running;
  }

  /// Requests that wait.
  public synchronized int waiting() {
    return waiting;
  }

  /// Takes a place. [Ticket#leave] must follow.
  ///
  /// @throws ApiException with status 503 if the queue is full, or 429 if the goal cannot be reached
  Ticket enter(int priority) {
    Ticket ticket = new Ticket(priority, timer.now(TimeUnit.NANOSECONDS));
    synchronized (this) {
      if (waiting == 0 && running < places()) {
        grant(ticket, ticket.entered);
      } else {
        queue(ticket);
      }
    }
    signal();
    return ticket;
  }

  /// The capacity may have changed.
  public void recheck() {
    synchronized (this) {
      grantFree();
    }
    signal();
  }

  private int places() {
    return Math.max(1, capacity.getAsInt());
  }

  /// Refuses a request that [#enter] would refuse now, before anything is spent on it.
  ///
  /// @throws ApiException as `enter`
  public synchronized void requireRoom(int priority) {
    if (waiting > 0 || running >= places()) {
      requireInTime(priority);
      if (waiting >= options.queued() && lastBelow(priority) == null) {
        throw full(priority);
      }
    }
  }

  @GuardedBy("this") private void queue(Ticket ticket) {
    requireInTime(ticket.priority);
    if (waiting >= options.queued()) {
      Ticket last = lastBelow(ticket.priority);
      if (last == null) {
        throw full(ticket.priority);
      }
      queues.get(last.priority).remove(last);
      waiting--;
      ApiException refusal = full(last.priority);
      signals.add(() -> last.granted.tryEmitError(refusal));
    }
    queues.get(ticket.priority).add(ticket);
    waiting++;
  }

  @GuardedBy("this") private void requireInTime(int priority) {
    Duration goal = options.goal();
    double first = estimatedWait(priority) + meanFirst;
    if (goal != null && first > goal.toNanos()) {
      throw new ApiException(LATE, "estimated time to the first token must be at most %d ms (was %d ms)"
          .formatted(goal.toMillis(), Math.round(first / 1e6)), seconds(first - goal.toNanos()));
    }
  }

  /// Nanoseconds until a request that comes now would run: until those before it have run.
  @GuardedBy("this") private double estimatedWait(int priority) {
    return (ahead(priority) + 1) * meanHeld / places();
  }

  @GuardedBy("this") private int ahead(int priority) {
    int ahead = 0;
    for (int at = priority; at <= RelayRequest.MAX_PRIORITY; at++) {
      ahead += queues.get(at).size();
    }
    return ahead;
  }

  @GuardedBy("this") private @Nullable Ticket lastBelow(int priority) {
    for (int at = 0; at < priority; at++) {
      if (!queues.get(at).isEmpty()) {
        return queues.get(at).getLast();
      }
    }
    return null;
  }

  @GuardedBy("this") private ApiException full(int priority) {
    return new ApiException(REFUSED, "requests that wait must be at most " + options.queued() + " (were as many)",
        seconds(estimatedWait(priority)));
  }

  private synchronized ApiException late(int priority) {
    return new ApiException(REFUSED,
        "wait for an engine must be at most " + options.patience().toMillis() + " ms (was longer)",
        seconds(estimatedWait(priority)));
  }

  private static Duration seconds(double nanos) {
    return Duration.ofSeconds(Math.clamp((long) Math.ceil(nanos / NANOS), 1, 60));
  }

  @GuardedBy("this") private void grant(Ticket ticket, long now) {
    ticket.began = now;
    running++;
    signals.add(ticket.granted::tryEmitEmpty);
  }

  @GuardedBy("this") private void grantFree() {
    int places = places();
    for (int at = RelayRequest.MAX_PRIORITY; at >= 0; at--) {
      while (running < places && !queues.get(at).isEmpty()) {
        waiting--;
        grant(queues.get(at).removeFirst(), timer.now(TimeUnit.NANOSECONDS));
      }
    }
  }

  /// Signals one after another and outside of the lock: a request that ends at once must not start the next one on its
  /// own stack.
  private void signal() {
    if (signalling.getAndIncrement() != 0) {
      return;
    }
    int missed = 1;
    do {
      for (Runnable next = signals.poll(); next != null; next = signals.poll()) {
        try {
          next.run();
        } catch (RuntimeException | Error e) { // those behind it must not wait for ever
          Uncaught.report(e);
        }
      }
      missed = signalling.addAndGet(-missed);
    } while (missed != 0);
  }

  private static double mean(double before, double value) {
    return before == 0 ? value : before + NEWEST * (value - before);
  }

  /// The place of one request.
  final class Ticket {
    private final int priority;
    private final long entered;
    private final Sinks.Empty<Void> granted = Sinks.empty();
    // Guarded by the admission
    private long began = -1;
    private boolean left;

    private Ticket(int priority, long entered) {
      this.priority = priority;
      this.entered = entered;
    }

    /// Completes when the request may run; fails with 503 when it waited too long, or lost its place.
    Mono<Void> granted() {
      synchronized (Admission.this) {
        if (began >= 0) {
          return Mono.empty(); // needs no timer
        }
      }
      return granted.asMono().timeout(options.patience(), Mono.error(() -> late(priority)), timer);
    }

    /// The first event of the answer came.
    void first() {
      synchronized (Admission.this) {
        meanFirst = mean(meanFirst, timer.now(TimeUnit.NANOSECONDS) - began);
      }
    }

    /// The request ended, whether it ran or not. Idempotent.
    void leave() {
      synchronized (Admission.this) {
        if (left) {
          return;
        }
        left = true;
        if (began >= 0) {
          running--;
          meanHeld = mean(meanHeld, timer.now(TimeUnit.NANOSECONDS) - began);
          grantFree();
        } else if (queues.get(priority).remove(this)) {
          waiting--;
        }
      }
      signal();
    }
  }
}
