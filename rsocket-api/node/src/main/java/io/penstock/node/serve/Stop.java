package io.penstock.node.serve;

import io.penstock.node.cli.ProcessSignal;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Receives SIGTERM and SIGINT: the first asks to stop, the second ends the process at once.
///
/// A JVM without signals falls back to a shutdown hook, with which the process still drains but ends with the JVM's own
/// exit code.
final class Stop {
  private static final int SIGNALLED = 128;

  private final CountDownLatch asked = new CountDownLatch(1);
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicReference<@Nullable Exception> cause = new AtomicReference<>();

  private Stop() {}

  /// Listens from now on.
  static Stop onSignals() {
    Stop stop = new Stop();
    try {
      stop.handle("TERM", 15);
      stop.handle("INT", 2);
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      Thread main = Thread.currentThread();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop.askAndWaitFor(main), "penstock-stop"));
    }
    return stop;
  }

  private void handle(String name, int number) throws ReflectiveOperationException {
    ProcessSignal.on(name, () -> signalled(number));
  }

  private void signalled(int number) {
    if (count.incrementAndGet() > 1) {
      Runtime.getRuntime().halt(SIGNALLED + number);
    }
    asked.countDown();
  }

  private void askAndWaitFor(Thread main) {
    asked.countDown();
    try {
      main.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// Asks to stop, as a signal does.
  void ask(Exception because) {
    cause.compareAndSet(null, because);
    asked.countDown();
  }

  /// Why it was asked to stop; empty for a signal.
  Optional<Exception> cause() {
    return Optional.ofNullable(cause.get());
  }

  /// Returns when it is asked to stop.
  void await() throws InterruptedException {
    asked.await();
  }
}
