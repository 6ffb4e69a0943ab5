package io.penstock.lab.plan;

import io.penstock.check.Checks;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/// The tokens of a request that a step saves: only what is new.
///
/// @param start first token
/// @param end token after the last, above `start`
public record SaveWindow(int start, int end) {
  public SaveWindow {
    Checks.notNegative("start", start);
    if (end <= start) {
      throw new IllegalArgumentException("end must be > start %d (was %d)".formatted(start, end));
    }
  }

  /// The window of the next step of a request.
  ///
  /// @param saved tokens that earlier steps saved
  /// @param tokens that are computed after this step
  /// @param granularity tokens after which a save ends
  /// @param wholeGranules whether a last part below the granularity waits for later steps
  public static Optional<SaveWindow> next(int saved, int tokens, int granularity, boolean wholeGranules) {
    int end = wholeGranules ? tokens / Checks.positive("granularity", granularity) * granularity : tokens;
    return between(Checks.notNegative("saved", saved), end);
  }

  private static Optional<SaveWindow> between(int start, int end) {
    return end > start ? Optional.of(new SaveWindow(start, end)) : Optional.empty();
  }

  /// The part of this window that a lookup did not find.
  ///
  /// @param found tokens at the start of the request that the pool has
  public Optional<SaveWindow> after(int found) {
    return between(Math.max(start, Checks.notNegative("found", found)), end);
  }

  /// The chunks that one of several equal copies of a cache saves. The chunks are split before the pool is asked which
  /// ones it has: two copies that asked first, and split what they heard, left holes.
  ///
  /// @param chunks number of chunks, over all copies
  /// @param copies that hold the same bytes
  /// @param copy which one asks, in `[0, copies)`
  public static IntStream share(int chunks, int copies, int copy) {
    Checks.within("copy", copy, Checks.positive("copies", copies));
    return IntStream.range(0, Checks.notNegative("chunks", chunks)).filter(chunk -> chunk % copies == copy);
  }

  /// The index of the last block, if it has no hash: because it is not full, or because its hash is not there yet.
  ///
  /// @param hashes blocks that have a hash
  public static OptionalInt partialBlock(int tokens, int blockTokens, int hashes) {
    int full = Checks.notNegative("tokens", tokens) / Checks.positive("blockTokens", blockTokens);
    if (tokens % blockTokens != 0) {
      return OptionalInt.of(full);
    }
    return full > hashes ? OptionalInt.of(full - 1) : OptionalInt.empty();
  }
}
