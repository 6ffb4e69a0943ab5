package io.penstock.wire.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.check.Checks;
import io.penstock.check.Uncaught;
import io.penstock.operator.Demand;
import io.penstock.operator.SerialLoop;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/// Notifications until their reader asks for them; a bounded number waits. One that is sent again, because its answer
/// was lost, is known by its number. Safe from any thread.
final class NotificationInbox {
  /// Engines whose numbers are remembered, the last that sent, and numbers of each.
  private static final int ENGINES = 1024;
  private static final int NUMBERS = 1024;

  private final int capacity;
  private final SerialLoop delivery = new SerialLoop(this::deliver, Uncaught::report);
  @GuardedBy("this") private final ArrayDeque<Notification> waiting = new ArrayDeque<>();
  @GuardedBy("this") private final Map<Long, Set<Long>> known = new LinkedHashMap<>(16, 0.75f, true);
  @GuardedBy("this") private @Nullable Reader reader;

  NotificationInbox(int capacity) {
    this.capacity = Checks.positive("inboxItems", capacity);
  }

  void accept(long engine, long sequence, Notification notification) {
    synchronized (this) {
      Set<Long> numbers = known.computeIfAbsent(engine, any -> new LinkedHashSet<>());
      dropEldest();
      if (numbers.contains(sequence)) {
        return;
      } else if (waiting.size() >= capacity) {
        throw new BudgetExhaustedException("inbox of notifications", 1, 0, capacity);
      }
      numbers.add(sequence);
      if (numbers.size() > NUMBERS) {
        numbers.remove(numbers.iterator().next());
      }
      waiting.add(notification);
    }
    delivery.run();
  }

  @GuardedBy("this") private void dropEldest() {
    if (known.size() > ENGINES) {
      known.remove(known.keySet().iterator().next());
    }
  }

  Flux<Notification> flux() {
    return Flux.from(subscriber -> {
      CoreSubscriber<? super Notification> actual = Operators.toCoreSubscriber(subscriber);
      Reader entered = enter(actual);
      if (entered == null) {
        Operators.error(actual, new IllegalStateException("notifications already have their one subscriber"));
      } else {
        actual.onSubscribe(entered);
      }
    });
  }

  private synchronized @Nullable Reader enter(CoreSubscriber<? super Notification> actual) {
    if (reader != null) {
      return null;
    }
    reader = new Reader(actual);
    return reader;
  }

  private void deliver() {
    for (Delivery next = next(); next != null; next = next()) {
      next.run();
    }
  }

  private record Delivery(Notification notification, Reader to) {
    /// A reader that throws gets the error, unless it cancelled before.
    void run() {
      try {
        to.actual.onNext(notification);
      } catch (Throwable e) {
        Exceptions.throwIfFatal(e);
        to.fail(e);
      }
    }
  }

  private synchronized @Nullable Delivery next() {
    Reader asking = reader;
    if (asking == null || asking.requested == 0 || waiting.isEmpty()) {
      return null;
    }
    asking.requested = Demand.minus(asking.requested, 1);
    return new Delivery(waiting.remove(), asking);
  }

  /// Whether `left` was the reader until now.
  private synchronized boolean leave(Reader left) {
    boolean wasReader = reader == left;
    reader = wasReader ? null : reader;
    return wasReader;
  }

  private final class Reader implements Subscription {
    private final CoreSubscriber<? super Notification> actual;
    private long requested;

    Reader(CoreSubscriber<? super Notification> actual) {
      this.actual = actual;
    }

    @Override
    public void request(long n) {
      if (n <= 0) {
        if (leave(this)) {
          actual.onError(Demand.refusal(n));
        }
        return;
      }
      synchronized (NotificationInbox.this) {
        requested = Demand.plus(requested, n);
      }
      delivery.run();
    }

    @Override
    public void cancel() {
      leave(this);
    }

    private void fail(Throwable error) {
      if (leave(this)) {
        actual.onError(error);
      } else {
        Uncaught.report(error);
      }
    }
  }
}
