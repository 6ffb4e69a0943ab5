package io.penstock.testkit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// Checks histories of concurrent calls against a sequential model.
///
/// A history is *linearisable* if its calls can be put in an order such that the model answers as the calls were
/// answered, and a call that returned before another one began comes before it. The check is that of Wing and Gong,
/// with Lowe's memory of the states that were tried. It takes exponential time at worst, so histories are short.
///
/// @param <S> immutable state of the model, compared by `equals`
/// @param <C> a call and its answer
public final class Linearisability<S, C> {
  /// Most calls of a history: a bit each.
  public static final int MOST_CALLS = Long.SIZE - 1;

  private final Model<S, C> model;

  public Linearisability(Model<S, C> model) {
    this.model = model;
  }

  /// What the calls do if they come one after the other.
  public interface Model<S, C> {
    S initial();

    /// The states that `call` may leave behind. Empty if it cannot be answered as it was.
    List<S> after(S state, C call);
  }

  /// A call that began at `invoked` and ended at `returned`, on a clock that never goes back.
  public record Timed<C>(C call, long invoked, long returned) {
    public Timed {
      if (returned < invoked) {
        throw new IllegalArgumentException("returned must be >= invoked " + invoked + " (was " + returned + ")");
      }
    }
  }

  /// @throws AssertionError if `history` is not linearisable
  public void check(List<Timed<C>> history) {
    if (!accepts(history)) {
      throw new AssertionError("calls must have an order that the model knows (were, by their begin)\n"
          + history.stream().sorted(Comparator.comparingLong(Timed::invoked)).map(Timed::toString)
              .collect(Collectors.joining("\n")));
    }
  }

  /// Whether `history` is linearisable.
  public boolean accepts(List<Timed<C>> history) {
    if (history.size() > MOST_CALLS) {
      throw new IllegalArgumentException("calls must be <= " + MOST_CALLS + " (was " + history.size() + ")");
    }
    List<Timed<C>> calls = new ArrayList<>(history);
    calls.sort(Comparator.comparingLong(Timed::returned));
    return new Search(calls).from(0, model.initial());
  }

  /// A state, and which calls led to it.
  private record Tried<S>(long done, S state) {}

  private final class Search {
    private final List<Timed<C>> calls;
    private final long all;
    private final Set<Tried<S>> tried = new HashSet<>();

    Search(List<Timed<C>> calls) {
      this.calls = calls;
      this.all = (1L << calls.size()) - 1;
    }

    boolean from(long done, S state) {
      if (done == all) {
        return true;
      }
      if (!tried.add(new Tried<>(done, state))) {
        return false;
      }
      long firstReturn = calls.get(Long.numberOfTrailingZeros(~done)).returned();
      for (int i = 0; i < calls.size(); i++) {
        if ((done >>> i & 1) == 0 && calls.get(i).invoked() <= firstReturn && follows(done | 1L << i, state, i)) {
          return true;
        }
      }
      return false;
    }

    private boolean follows(long done, S state, int call) {
      return model.after(state, calls.get(call).call()).stream().anyMatch(next -> from(done, next));
    }
  }
}
