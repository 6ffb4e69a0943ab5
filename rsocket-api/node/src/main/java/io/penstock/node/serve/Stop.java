package io.penstock.node.serve;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Receives SIGTERM and SIGINT: the first asks to stop, the second ends the process at once.
///
/// The JDK offers signals only in `sun.misc`, which is reached by reflection. A JVM without it falls back to a shutdown
/// hook, with which the process still drains but ends with the JVM's own exit code.
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
    Class<?> signal = Class.forName("sun.misc.Signal");
    Class<?> handler = Class.forName("sun.misc.SignalHandler");
    Object listener =
        Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler}, (proxy, method, arguments) -> answer(
            method, proxy, arguments, number));
    try {
      signal.getMethod("handle", signal, handler).invoke(null, signal.getConstructor(String.class).newInstance(name),
          listener);
    } catch (InvocationTargetException e) {
      throw new IllegalArgumentException("signal " + name + " must be free (was taken)", e);
    }
  }

  @SuppressWarnings("ReferenceEquality") // a proxy is equal to itself alone
  private Object answer(Method method, Object proxy, Object[] arguments, int number) {
    return switch (method.getName()) {
      case "handle" -> signalled(number);
      case "equals" -> proxy == arguments[0];
      case "hashCode" -> System.identityHashCode(proxy);
      default -> "penstock stop";
    };
  }

  private Object signalled(int number) {
    if (count.incrementAndGet() > 1) {
      Runtime.getRuntime().halt(SIGNALLED + number);
    }
    asked.countDown();
    return this;
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
