package io.penstock.device.ascend;

import java.util.ArrayDeque;

/// What is to be undone, the last first. A step that fails keeps no other from being made. For one thread at a time.
final class Unwinding {
  private final ArrayDeque<Runnable> steps = new ArrayDeque<>();

  void then(Runnable undo) {
    steps.push(undo);
  }

  /// @throws RuntimeException the first that any step threw
  void run() {
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

  /// Undoes what was made before `failure`, which it returns.
  <E extends Throwable> E run(E failure) {
    try {
      run();
    } catch (RuntimeException e) {
      suppressing(failure, e);
    }
    return failure;
  }

  @SuppressWarnings("ReferenceEquality") // nothing may suppress itself
  private static <E extends Throwable> E suppressing(E first, RuntimeException another) {
    if (first != another) {
      first.addSuppressed(another);
    }
    return first;
  }
}
