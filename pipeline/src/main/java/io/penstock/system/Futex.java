package io.penstock.system;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;

/// Sleeps until another process changes a word of memory that both map, and wakes such sleepers: the futex of Linux. A
/// mapping for reading alone is enough for both.
public final class Futex {
  /// The C library has no function for it.
  private static final long NUMBER = System.getProperty("os.arch", "").equals("aarch64") ? 98 : 202;
  private static final int WAIT = 0;
  private static final int WAKE = 1;

  private static final MethodHandle CALL = CLibrary.bindVariadic("syscall", 1, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_INT,
      JAVA_INT, ADDRESS);

  private Futex() {}

  /// Sleeps as long as `word` is `seen`, unless it is woken or the time is over. It may wake for no reason, too.
  ///
  /// @param word 4 bytes, aligned
  public static void await(MemorySegment word, int seen, long nanos) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment time = arena.allocate(JAVA_LONG, 2);
      time.setAtIndex(JAVA_LONG, 0, TimeUnit.NANOSECONDS.toSeconds(nanos));
      time.setAtIndex(JAVA_LONG, 1, nanos % TimeUnit.SECONDS.toNanos(1));
      call(word, WAIT, seen, time);
    }
  }

  /// Wakes all who sleep on `word`.
  public static void wake(MemorySegment word) {
    call(word, WAKE, Integer.MAX_VALUE, MemorySegment.NULL);
  }

  /// The answer is ignored: the caller looks at the word again after a change, a signal, or the end of the time.
  private static void call(MemorySegment word, int operation, int value, MemorySegment time) {
    long answer = CLibrary.call(state -> (long) CALL.invokeExact(state, NUMBER, word, operation, value, time));
    if (answer == -SystemCallException.ENOSYS) {
      throw new IllegalStateException("futex must be a call of this system (was refused)");
    }
  }
}
