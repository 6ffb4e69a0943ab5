package io.penstock.device.ascend.acl;

import java.util.ArrayDeque;

/// Steps to undo, the last first. A failing step does not stop the others. For one thread at a time.
public final class Rollback {
  private final ArrayDeque<Runnable> steps = new ArrayDeque<>();

  public void then(Runnable undo) {
    steps.push(undo);
  }

  /// @throws RuntimeException the first that any step threw
  public void run() {
    RuntimeException first = null;
    for (Runnable step = steps.poll(); step != null; step = steps.poll()) {
      try {
        step.run();
      } catch (RuntimeException e) {
        first = first == null ? e : suppressing(first, e);
      }
    }
    if (first != null) {
      throw first;
    }
  }

  /// Undoes all steps before `failure`, which it returns.
  public <E extends Throwable> E run(E failure) {
    try {
      run();
    } catch (RuntimeException e) {
      suppressing(failure, e);
    }
    return failure;
  }

  @SuppressWarnings("ReferenceEquality") // an exception must not suppress itself
  private static <E extends Throwable> E suppressing(E first, RuntimeException another) {
    if (first != another) {
      first.addSuppressed(another);
    }
    return first;
  }
}
