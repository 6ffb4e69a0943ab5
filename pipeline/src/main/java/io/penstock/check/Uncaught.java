package io.penstock.check;

/// Reports failures of callbacks that no caller receives.
public final class Uncaught {
  private Uncaught() {}

  /// Passes `failure` to the uncaught exception handler of this thread. A failure of the handler itself is ignored, as
  /// the JVM ignores it: the caller has other callbacks to run.
  public static void report(Throwable failure) {
    Thread thread = Thread.currentThread();
    try {
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
    } catch (Throwable ignored) {
      // there is no other place to report it
    }
  }
}
