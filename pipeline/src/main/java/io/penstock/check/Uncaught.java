package io.penstock.check;

/// The place of a failure that no caller waits for, and that must not stop the work of others.
public final class Uncaught {
  private Uncaught() {}

  /// Reports `failure` to the current thread's handler of uncaught exceptions. The caller goes on.
  public static void report(Throwable failure) {
    Thread thread = Thread.currentThread();
    try {
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
    } catch (Throwable ignored) { // as the JVM does when a thread ends
      return;
    }
  }
}
