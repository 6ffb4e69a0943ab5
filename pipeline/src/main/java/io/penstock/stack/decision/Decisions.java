package io.penstock.stack.decision;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.stack.shape.StackShape;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The one lock of a `TierStack`, and the decisions that are made under it.
///
/// Only this class takes the lock. Every change is a *decision*: [#decide] locks, runs the decision, reviews the
/// changed blocks, unlocks, and runs the deferred actions. A class that is "used in decisions only" relies on this
/// lock. A method that takes [DeferredActions] is called inside a decision and may change state.
public final class Decisions {
  /// What every decision does beside its own changes. A stack implements it with its parts.
  public interface Rules {
    /// Begins a decision: ends what has expired.
    void begin(DeferredActions after);

    /// Moves the bytes of `block`, which the decision changed, to where the ledger has the block.
    void review(Resident block, DeferredActions after);

    /// Ends a decision, after the review of all changed blocks.
    void end(DeferredActions after);

    /// Emits the recorded events. Outside the lock.
    void emit();

    /// Reports to callers that wait for the end of moves. Outside the lock.
    void signal();
  }

  private final Object lock = new Object();
  @GuardedBy("lock") private @Nullable DeferredActions underWay;

  private final StackShape shape;
  private final Rules rules;
  private volatile boolean closed;

  public Decisions(StackShape shape, Rules rules) {
    this.shape = shape;
    this.rules = rules;
  }

  /// Runs `decision` under the lock, then its deferred actions without the lock.
  public void decide(Consumer<DeferredActions> decision) {
    answer(after -> {
      decision.accept(after);
      return true;
    });
  }

  /// Runs a decision that has an answer. A decision made inside another, on the same thread, is part of the outer
  /// decision: its actions run when the outer decision has ended. If a decision throws, its changed blocks are reviewed
  /// and its actions run all the same.
  public <T extends @Nullable Object> T answer(Function<DeferredActions, T> decision) {
    if (Thread.holdsLock(lock)) {
      return answerWithin(decision);
    }
    DeferredActions after = new DeferredActions();
    try {
      synchronized (lock) {
        underWay = after;
        try {
          return reviewed(decision, after);
        } finally {
          underWay = null;
        }
      }
    } finally {
      after.run(rules);
    }
  }

  private <T extends @Nullable Object> T answerWithin(Function<DeferredActions, T> decision) {
    synchronized (lock) { // held already
      return decision.apply(requireNonNull(underWay, "a decision must not be made within a look"));
    }
  }

  private <T extends @Nullable Object> T reviewed(Function<DeferredActions, T> decision, DeferredActions after) {
    try {
      rules.begin(after);
      return decision.apply(after);
    } finally {
      for (Resident block = after.nextReview(); block != null; block = after.nextReview()) {
        rules.review(block, after);
      }
      rules.end(after);
    }
  }

  /// Reads the state under the lock. `question` changes nothing and makes no decision.
  public <T extends @Nullable Object> T look(Supplier<T> question) {
    synchronized (lock) {
      return question.get();
    }
  }

  // The end

  public boolean isClosed() {
    return closed;
  }

  /// @throws io.penstock.tier.TierClosedException if the stack has closed
  public void requireOpen() {
    if (closed) {
      throw shape.closed();
    }
  }

  /// Marks the stack as closed. In a decision.
  public void close() {
    closed = true;
  }
}
