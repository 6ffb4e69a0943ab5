package io.penstock.stage;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/// Cuts a stream into windows without a key twice, which is how tiers want to be asked.
final class Windows {
  private Windows() {}

  /// Windows of at most `max` elements with distinct keys: one ends when it is full, and before an element whose key it
  /// has already.
  static <T, K> Flux<List<T>> distinct(Flux<T> source, int max, Function<T, K> key) {
    return max == 1 ? source.map(List::of) : Flux.defer(() -> {
      Gathering<T, K> gathering = new Gathering<>(max, key);
      return InTurn.of(source.<List<T>>handle((element, sink) -> {
        List<T> window = gathering.add(element);
        if (window != null) {
          sink.next(window);
        }
      }), Flux.defer(gathering::rest));
    });
  }

  private static final class Gathering<T, K> {
    private final int max;
    private final Function<T, K> key;
    private final Set<K> keys = new HashSet<>();
    private List<T> window = new ArrayList<>();

    Gathering(int max, Function<T, K> key) {
      this.max = max;
      this.key = key;
    }

    /// The window that `element` ends, if any; at most one, as a window has room for two.
    @Nullable List<T> add(T element) {
      List<T> ended = keys.contains(key.apply(element)) ? cut() : null;
      keys.add(key.apply(element));
      window.add(element);
      return window.size() == max ? cut() : ended;
    }

    Flux<List<T>> rest() {
      return window.isEmpty() ? Flux.empty() : Flux.just(cut());
    }

    private List<T> cut() {
      List<T> ended = window;
      window = new ArrayList<>();
      keys.clear();
      return ended;
    }
  }
}
