package io.penstock.node.trace;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/// Ids of blocks in the order of a prompt. Prompts that continue each other share one run: each has a prefix of it.
final class BlockRun {
  private long[] ids;
  private int count;

  BlockRun(long[] ids) {
    this.ids = ids;
    this.count = ids.length;
  }

  int count() {
    return count;
  }

  long first() {
    return ids[0];
  }

  boolean isEmpty() {
    return count == 0;
  }

  /// Number of blocks of this run that `others` has, too.
  long common(long... others) {
    Set<Long> set = LongStream.of(others).boxed().collect(Collectors.toSet());
    return LongStream.of(ids).limit(count).filter(set::contains).count();
  }

  void append(long... more) {
    if (count + more.length > ids.length) {
      ids = Arrays.copyOf(ids, Math.max(2 * count, count + more.length));
    }
    System.arraycopy(more, 0, ids, count, more.length);
    count += more.length;
  }

  /// Appends the end of `whole` if it begins with this run; else changes nothing.
  ///
  /// @return whether it does
  boolean continueTo(long[] whole) {
    if (whole.length < count || Arrays.mismatch(ids, 0, count, whole, 0, count) >= 0) {
      return false;
    }
    append(Arrays.copyOfRange(whole, count, whole.length));
    return true;
  }

  /// The first `prefix` ids.
  List<Long> prefix(int prefix) {
    return LongStream.of(ids).limit(prefix).boxed().toList();
  }
}
