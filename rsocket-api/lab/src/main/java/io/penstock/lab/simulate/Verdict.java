package io.penstock.lab.simulate;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// Findings of one run: the first invariant broken, and a digest of all events, to distinguish runs.
///
/// A broken invariant is kept, not thrown: it is found in the middle of a stream. The run looks after each step.
final class Verdict {
  private static final int LAST = 40;
  private final long seed;
  private final Consumer<String> listener;
  private final CRC32C crc = new CRC32C();
  private final ArrayDeque<String> last = new ArrayDeque<>(LAST);
  private long digest = 1;
  private @Nullable ViolationException violation;

  /// @param listener hears of the first broken invariant when it is found
  Verdict(long seed, Consumer<String> listener) {
    this.seed = seed;
    this.listener = listener;
  }

  void broken(Invariant invariant, String detail) {
    broken(invariant, detail, null);
  }

  void broken(Invariant invariant, String detail, @Nullable Throwable cause) {
    if (violation == null) {
      violation = new ViolationException(seed, invariant, detail, cause);
      listener.accept(invariant.sentence() + " (" + detail + ")");
    }
  }

  void require(boolean holds, Invariant invariant, String detail) {
    if (!holds) {
      broken(invariant, detail);
    }
  }

  /// @throws ViolationException if an invariant was broken so far
  void orThrow() {
    if (violation != null) {
      throw violation;
    }
  }

  /// Adds a decision, a signal or a result to the digest.
  void note(String what) {
    if (last.size() == LAST) {
      last.removeFirst();
    }
    last.addLast(what);
    crc.update(what.getBytes(StandardCharsets.UTF_8));
    fold();
  }

  /// Adds numbers to the digest: when, where, how much, which bytes.
  void note(long first, long second) {
    digest = (digest ^ first) * 0x9E3779B97F4A7C15L;
    digest = (digest ^ (digest >>> 29) ^ second) * 0xBF58476D1CE4E5B9L;
    digest ^= digest >>> 32;
  }

  private void fold() {
    note(crc.getValue(), 0);
  }

  long digest() {
    return digest;
  }

  /// The last things noted, oldest first.
  List<String> last() {
    return List.copyOf(last);
  }
}
