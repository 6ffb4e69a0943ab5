package io.penstock.stack;

import io.penstock.stack.StackModel.State;
import io.penstock.testkit.Linearisability;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// What a [TierStack] with LRU answers if its calls come one after the other.
///
/// If decisions are exact, this is the textbook's LRU over the sum of the levels. Otherwise a block in use is spared,
/// so any other block may be the victim. In a stack so small that readers and copies may use all of its blocks, the
/// block that comes may be the victim itself.
final class StackModel implements Linearisability.Model<State, StackCall> {
  private static final int EVERY_KEY = -1;

  private final int capacity;
  private final boolean exact;
  /// Whether a block may be evicted as it comes.
  private final boolean newestLeaves;
  /// The one key that this model knows, or [#EVERY_KEY].
  private final int only;

  private StackModel(int capacity, boolean exact, boolean newestLeaves, int only) {
    this.capacity = capacity;
    this.exact = exact;
    this.newestLeaves = newestLeaves;
    this.only = only;
  }

  static StackModel of(int capacity, boolean exact, boolean newestLeaves) {
    return new StackModel(capacity, exact, newestLeaves, EVERY_KEY);
  }

  /// Knows `key` alone: calls about other keys do nothing but, perhaps, evict it. This is all that calls without the
  /// lock promise.
  static StackModel ofOne(int key, boolean newestLeaves) {
    return new StackModel(Integer.MAX_VALUE, false, newestLeaves, key);
  }

  /// @param order keys that the ledger has, the most recently used first
  /// @param visible a bit for each key
  /// @param writing the client whose lease admitted the key, or [#RESERVED]
  record State(List<Integer> order, int visible, Map<Integer, Integer> writing) {
    static final int RESERVED = -1;

    boolean isVisible(int key) {
      return StackCall.has(visible, key);
    }

    boolean isListed(int key) {
      return order.contains(key);
    }

    boolean isReserved(int key) {
      return writing.getOrDefault(key, 0) == RESERVED;
    }

    State used(int key) {
      List<Integer> next = new ArrayList<>(order);
      next.remove((Integer) key);
      next.addFirst(key);
      return new State(List.copyOf(next), visible, writing);
    }

    State without(int key) {
      List<Integer> next = new ArrayList<>(order);
      next.remove((Integer) key);
      return new State(List.copyOf(next), visible & ~(1 << key), writing);
    }

    State shown(int key) {
      return new State(order, visible | 1 << key, writing);
    }

    State writtenBy(int key, int client) {
      Map<Integer, Integer> next = new HashMap<>(writing);
      next.put(key, client);
      return new State(order, visible, Map.copyOf(next));
    }

    State unwritten(int key) {
      Map<Integer, Integer> next = new HashMap<>(writing);
      next.remove(key);
      return new State(order, visible, Map.copyOf(next));
    }
  }

  @Override
  public State initial() {
    return new State(List.of(), 0, Map.of());
  }

  @Override
  public List<State> after(State state, StackCall call) {
    List<State> states = List.of(state);
    for (int i = 0; i < call.keys().size() && !states.isEmpty(); i++) {
      List<State> next = new ArrayList<>();
      for (State each : states) {
        next.addAll(after(each, call, i));
      }
      states = next;
    }
    return states;
  }

  private List<State> after(State state, StackCall call, int i) {
    int key = call.keys().get(i);
    if (only != EVERY_KEY && key != only) {
      return call.kind() == StackCall.Kind.COMMIT && state.isVisible(only)
          ? List.of(state, state.without(only))
          : List.of(state);
    }
    boolean told = StackCall.has(call.found(), i);
    return switch (call.kind()) {
      case CONTAINS -> given(told == state.isVisible(key), state);
      case MATCH -> match(state, call, i);
      case RESERVE -> reserve(state, key, told);
      case COMMIT -> commit(state.unwritten(key), key);
      case REVOKE -> List.of(revoked(state, key));
      case LEASE -> lease(state, call, i);
      case ADMIT -> admit(state, call, i);
      case END -> List.of(state.writing().getOrDefault(key, State.RESERVED) == call.client()
          ? revoked(state, key)
          : state);
      case REMOVE -> given(told == state.isVisible(key), told ? state.without(key) : state);
    };
  }

  private static List<State> given(boolean isRight, State state) {
    return isRight ? List.of(state) : List.of();
  }

  private static List<State> match(State state, StackCall call, int i) {
    int prefix = Integer.bitCount(call.found());
    return given(i > prefix || state.isVisible(call.keys().get(i)) == i < prefix, state);
  }

  private List<State> reserve(State state, int key, boolean granted) {
    if (granted == (state.isVisible(key) || state.isReserved(key))) {
      return List.of();
    }
    boolean isAdmitted = state.writing().containsKey(key);
    return granted
        ? List.of(entered(state.writtenBy(key, State.RESERVED), key, exact && !isAdmitted))
        : List.of(state);
  }

  private State entered(State state, int key, boolean enters) {
    if (!enters) {
      return state;
    }
    State next = state.used(key);
    return next.order().size() > capacity ? next.without(next.order().getLast()) : next;
  }

  private List<State> commit(State state, int key) {
    if (exact) {
      return List.of(state.isListed(key) ? state.shown(key) : state);
    }
    State next = state.used(key).shown(key);
    if (only != EVERY_KEY) {
      return newestLeaves ? List.of(next, next.without(key)) : List.of(next);
    }
    return next.order().size() > capacity
        ? next.order().stream().filter(victim -> victim != key || newestLeaves).map(next::without).toList()
        : List.of(next);
  }

  private static State revoked(State state, int key) {
    return state.isVisible(key) ? state.unwritten(key) : state.unwritten(key).without(key);
  }

  private static List<State> lease(State state, StackCall call, int i) {
    int key = call.keys().get(i);
    boolean isThere = state.isVisible(key);
    boolean isRight = isThere == StackCall.has(call.found(), i) && isThere == StackCall.has(call.hits(), i)
        && !StackCall.has(call.awaited() | call.admitted(), i);
    return given(isRight, isThere ? state.used(key) : state);
  }

  private List<State> admit(State state, StackCall call, int i) {
    int key = call.keys().get(i);
    boolean isAdmitted = StackCall.has(call.admitted(), i);
    if (state.isVisible(key)) {
      return given(!isAdmitted && StackCall.has(call.found() & call.hits() & ~call.awaited(), i), state.used(key));
    }
    boolean isWritten = state.writing().containsKey(key);
    boolean isHit = isWritten && (!exact || state.isListed(key));
    boolean mayBeRefused = !exact && !isWritten;
    boolean isRight = !StackCall.has(call.found(), i) && StackCall.has(call.awaited(), i) == isWritten
        && StackCall.has(call.hits(), i) == isHit && (isAdmitted != isWritten || (mayBeRefused && !isAdmitted));
    return given(isRight, entered(isAdmitted ? state.writtenBy(key, call.client()) : state, key, exact));
  }
}
