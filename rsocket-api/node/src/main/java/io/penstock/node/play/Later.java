package io.penstock.node.play;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A value that callers may wait for.
final class Later<T> {
  private final List<Consumer<T>> waiting = new ArrayList<>();
  private @Nullable T value;

  void set(T given) {
    value = given;
    waiting.forEach(each -> each.accept(given));
    waiting.clear();
  }

  void then(Consumer<T> work) {
    T given = value;
    if (given == null) {
      waiting.add(work);
    } else {
      work.accept(given);
    }
  }
}
