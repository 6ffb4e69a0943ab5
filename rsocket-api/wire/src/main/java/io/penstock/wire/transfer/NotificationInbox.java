package io.penstock.wire.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.check.Checks;
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
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/// Notifications until their reader asks for them; a bounded number waits. One that is sent again, because its answer
/// was lost, is known by its number. Safe from any thread.
final class NotificationInbox {
  /// Engines whose numbers are remembered, the last that sent, and numbers of each.
  private static final int ENGINES = 1024;
  private static final int NUMBERS = 1024;

  private final int capacity;
  private final SerialLoop delivery = new SerialLoop(this::deliver, this::fail);
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
      next.to.onNext(next.notification);
    }
  }

  private record Delivery(Notification notification, CoreSubscriber<? super Notification> to) {}

  private synchronized @Nullable Delivery next() {
    Reader asking = reader;
    if (asking == null || asking.requested == 0 || waiting.isEmpty()) {
      return null;
    }
    asking.requested = Demand.minus(asking.requested, 1);
    return new Delivery(waiting.remove(), asking.actual);
  }

  /// Ends the reader, which threw.
  private void fail(Throwable error) {
    Reader thrower;
    synchronized (this) {
      thrower = reader;
      reader = null;
    }
    if (thrower != null) {
      thrower.actual.onError(error);
    }
  }

  private synchronized void leave(Reader left) {
    reader = reader == left ? null : reader;
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
        leave(this);
        actual.onError(Demand.refusal(n));
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
  }
}
