package io.penstock.block.session;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/// A session as numbers of a recorded event, behind its other numbers: the priority, the time to keep in nanoseconds or
/// −1, the length of the name, and the name, 8 bytes a number. A request without a session has none of them.
public final class SessionNumbers {
  private static final int HEAD = 3;

  private SessionNumbers() {}

  /// `numbers`, and `use` behind them.
  public static long[] behind(@Nullable SessionUse use, long... numbers) {
    if (use == null) {
      return numbers;
    }
    byte[] name = use.session().bytes();
    int words = Math.ceilDiv(name.length, Long.BYTES);
    long[] all = Arrays.copyOf(numbers, numbers.length + HEAD + words);
    int at = numbers.length;
    Duration keep = use.keep();
    all[at++] = use.priority();
    all[at++] = keep == null ? -1 : keep.toNanos();
    all[at++] = name.length;
    ByteBuffer.wrap(Arrays.copyOf(name, words * Long.BYTES)).asLongBuffer().get(all, at, words);
    return all;
  }

  /// The session behind the first `count` of `size` numbers; null if there is none.
  public static @Nullable SessionUse read(int size, IntToLongFunction number, int count) {
    if (size <= count) {
      return null;
    }
    int length = Math.toIntExact(number.applyAsLong(count + 2));
    ByteBuffer name = ByteBuffer.allocate(Math.ceilDiv(length, Long.BYTES) * Long.BYTES);
    for (int i = 0; name.hasRemaining(); i++) {
      name.putLong(number.applyAsLong(count + HEAD + i));
    }
    long keep = number.applyAsLong(count + 1);
    return new SessionUse(SessionId.of(Arrays.copyOf(name.array(), length)),
        Math.toIntExact(number.applyAsLong(count)), keep < 0 ? null : Duration.ofNanos(keep));
  }
}
