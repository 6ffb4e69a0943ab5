package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Owned;
import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/// Copies between addresses that a device reaches, any number and any mix of ways, with a result for each.
///
/// One thread fills it, then [AscendDevice#copy(CopyRequest)] has it until its `Mono` ended; after that its results may
/// be read, and after [#clear()] or [#again()] it may be copied once more, with the memory that it has grown to. Memory
/// passed to [#hold] stays alive until the copies have ended, also after a cancel.
public final class CopyRequest {
  /// The result of a copy that was made.
  public static final int COPIED = 0;
  /// The result of an element before its copy.
  public static final int OPEN = -1;

  private long[] from;
  private long[] to;
  private long[] bytes;
  private int[] results;
  private int elements;
  private long totalBytes;
  private List<Owned> holds = new ArrayList<>();
  private final AtomicReference<State> state = new AtomicReference<>(State.READY);

  private enum State {
    READY, UNDER_WAY, ENDED
  }

  /// @param elements expected number
  public CopyRequest(int elements) {
    Checks.notNegative("elements", elements);
    int room = Math.max(1, elements);
    this.from = new long[room];
    this.to = new long[room];
    this.bytes = new long[room];
    this.results = new int[room];
  }

  /// Adds the copy of `bytes` from one address to another; the two ranges must not overlap.
  public CopyRequest add(long from, long to, long bytes) {
    requireReady();
    Checks.positive("bytes of an element", bytes);
    if (from > Long.MAX_VALUE - bytes || to > Long.MAX_VALUE - bytes || from <= 0 || to <= 0) {
      throw new IllegalArgumentException(
          "addresses must be > 0 and end below 2^63 (was %#x and %#x, %d bytes)".formatted(from, to, bytes));
    }
    if (elements == this.from.length) {
      grow();
    }
    this.from[elements] = from;
    this.to[elements] = to;
    this.bytes[elements] = bytes;
    this.results[elements++] = OPEN;
    totalBytes += bytes;
    return this;
  }

  private void grow() {
    int room = Math.max(2 * elements, 16);
    from = Arrays.copyOf(from, room);
    to = Arrays.copyOf(to, room);
    bytes = Arrays.copyOf(bytes, room);
    results = Arrays.copyOf(results, room);
  }

  /// Closes `owned` when the copies have ended. Pass a share of the memory that an element reads or writes.
  public CopyRequest hold(Owned owned) {
    requireReady();
    holds.add(requireNonNull(owned, "owned"));
    return this;
  }

  /// Removes all elements and closes what it holds.
  public CopyRequest clear() {
    requireMine();
    elements = 0;
    totalBytes = 0;
    holds.forEach(Owned::close);
    holds.clear();
    state.set(State.READY);
    return this;
  }

  /// Makes its elements ready to be copied once more. After a copy it holds no memory.
  public CopyRequest again() {
    requireMine();
    Arrays.fill(results, 0, elements, OPEN);
    state.set(State.READY);
    return this;
  }

  /// Takes the request over until [#end]; only the device calls this.
  ///
  /// @return the memory that it holds
  /// @throws IllegalStateException if it is under way, or was copied and not made ready since
  Owned take() {
    if (!state.compareAndSet(State.READY, State.UNDER_WAY)) {
      throw new IllegalStateException("request must be copied once, or be made ready again (was " + word() + ")");
    }
    List<Owned> held = holds;
    holds = new ArrayList<>();
    return new Owned() {
      @Override
      protected void free() {
        held.forEach(Owned::close);
      }
    };
  }

  /// Fails all elements without a result; some may have been copied. Only the device calls this.
  void endOpen(int code) {
    for (int i = 0; i < elements; i++) {
      if (results[i] == OPEN) {
        results[i] = code;
      }
    }
  }

  /// Marks the results as complete; only the device calls this.
  void end() {
    state.set(State.ENDED);
  }

  private void requireReady() {
    if (state.get() != State.READY) {
      throw new IllegalStateException("request must be ready to be changed (was " + word() + ")");
    }
  }

  private void requireMine() {
    if (state.get() == State.UNDER_WAY) {
      throw new IllegalStateException("request must not be changed before its copies have ended (was " + word() + ")");
    }
  }

  private String word() {
    return state.get() == State.UNDER_WAY ? "under way" : "copied before";
  }

  public int elements() {
    return elements;
  }

  public long totalBytes() {
    return totalBytes;
  }

  public long from(int element) {
    return from[element];
  }

  public long to(int element) {
    return to[element];
  }

  public long bytes(int element) {
    return bytes[element];
  }

  /// Result of an element: [#COPIED], the code of the library, after which its destination may hold anything, or
  /// [#OPEN].
  public int result(int element) {
    return results[element];
  }

  void result(int element, int code) {
    results[element] = code;
  }

  @Override
  public String toString() {
    return elements + " copies of " + totalBytes + " bytes";
  }
}
