package io.penstock.pool;

import static java.util.Objects.requireNonNull;

import io.penstock.pool.evict.IntRows;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Objects by small numbers. A number that was given back is used again first.
final class ValuePool<V> {
  private static final int CHUNK_BITS = 10;
  private static final int CHUNK = 1 << CHUNK_BITS;

  private final IntRows numbers = new IntRows(1);
  private @Nullable Object[][] chunks = new @Nullable Object[1][CHUNK];

  int add(V value) {
    int number = numbers.take();
    int chunk = number >>> CHUNK_BITS;
    if (chunk == chunks.length) {
      chunks = Arrays.copyOf(chunks, 2 * chunk);
    }
    if (chunks[chunk] == null) {
      chunks[chunk] = new @Nullable Object[CHUNK];
    }
    set(number, value);
    return number;
  }

  int size() {
    return numbers.size();
  }

  void set(int number, V value) {
    chunks[number >>> CHUNK_BITS][number & (CHUNK - 1)] = value;
  }

  @SuppressWarnings("unchecked")
  V get(int number) {
    return (V) requireNonNull(chunks[number >>> CHUNK_BITS][number & (CHUNK - 1)], "value");
  }

  V remove(int number) {
    V value = get(number);
    chunks[number >>> CHUNK_BITS][number & (CHUNK - 1)] = null;
    numbers.give(number);
    return value;
  }

  void clear() {
    numbers.clear();
    chunks = new @Nullable Object[1][CHUNK];
  }
}
