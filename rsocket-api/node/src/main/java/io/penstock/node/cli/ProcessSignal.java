package io.penstock.node.cli;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/// Signals of the operating system. The JDK offers them only in `sun.misc`, which is reached by reflection.
public final class ProcessSignal {
  private ProcessSignal() {}

  /// Runs `work` on each signal of `name`, such as *TERM*.
  ///
  /// @throws ReflectiveOperationException if the JVM has no signals
  /// @throws IllegalArgumentException if the signal is unknown, or used by another listener
  public static void on(String name, Runnable work) throws ReflectiveOperationException {
    Class<?> signal = Class.forName("sun.misc.Signal");
    Class<?> handler = Class.forName("sun.misc.SignalHandler");
    Object listener = Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler},
        (proxy, method, arguments) -> answer(method, proxy, arguments, work));
    try {
      signal.getMethod("handle", signal, handler).invoke(null, signal.getConstructor(String.class).newInstance(name),
          listener);
    } catch (InvocationTargetException e) {
      throw new IllegalArgumentException("signal " + name + " must be free (was taken)", e);
    }
  }

  @SuppressWarnings("ReferenceEquality") // a proxy is equal to itself alone
  private static Object answer(Method method, Object proxy, Object[] arguments, Runnable work) {
    return switch (method.getName()) {
      case "handle" -> {
        work.run();
        yield proxy;
      }
      case "equals" -> proxy == arguments[0];
      case "hashCode" -> System.identityHashCode(proxy);
      default -> "penstock signal";
    };
  }
}
