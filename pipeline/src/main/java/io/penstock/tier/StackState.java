package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.SlabArena.ChunkSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The state of a [TierStack], and the one lock that guards it.
///
/// Only this class takes the lock. Every change is a *decision*: [#decide] locks, runs the decision, has the [Mover]
/// review the changed blocks, unlocks, and runs the deferred actions. A class that is "used in decisions only" relies
/// on this lock. A method that takes [DeferredActions] is called inside a decision and may change state.
final class StackState {
  /// Keys of one step of a snapshot.
  private static final int SNAPSHOT_KEYS = 256;

  private final Object lock = new Object();
  @GuardedBy("lock") private @Nullable DeferredActions underWay;

  private final StackShape shape;
  private final StackMemory memory;
  private final EventLog events;
  private final StackFigures figures;
  private final StackHistory history;
  private final OffloadQueue offloads;
  private final Mover mover;
  private final AttachedStores stores;
  private final StackIndex index;
  private final Removals removals;
  private final WindowReads windows;
  private final HostRoom room;
  private final HostWatermarks watermarks;
  private final StackHolds holds;
  private final StackWrites writes;
  private final List<Flush> flushes = new CopyOnWriteArrayList<>();
  private volatile boolean closed;

  /// @param nanos clock of waits, leases and pins
  /// @param ids draws names for leases
  StackState(StackShape shape, LongSupplier nanos, LongSupplier ids, ChunkSource chunks) {
    this.shape = shape;
    this.memory = new StackMemory(shape, chunks);
    this.events = new EventLog(shape.options().eventLogSize());
    this.figures = new StackFigures(shape);
    this.history = new StackHistory(shape, figures, events);
    this.offloads = new OffloadQueue(this, nanos);
    this.mover = new Mover(this);
    this.stores = new AttachedStores(this);
    this.index = new StackIndex(shape, figures, history, stores);
    this.removals = new Removals(this);
    this.windows = new WindowReads(this);
    this.room = new HostRoom(this);
    this.watermarks = new HostWatermarks(this);
    this.holds = new StackHolds(this, nanos, ids);
    this.writes = new StackWrites(this);
  }

  // Decisions

  /// Runs `decision` under the lock, then its deferred actions without the lock.
  void decide(Consumer<DeferredActions> decision) {
    answer(after -> {
      decision.accept(after);
      return true;
    });
  }

  /// The same for a decision with an answer. A decision made inside another, on the same thread, is part of the outer
  /// decision: its actions run when the outer decision has ended. If a decision throws, its changed blocks are reviewed
  /// and its actions run all the same.
  <T extends @Nullable Object> T answer(Function<DeferredActions, T> decision) {
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
      after.run(events, flushes);
    }
  }

  private <T extends @Nullable Object> T answerWithin(Function<DeferredActions, T> decision) {
    synchronized (lock) { // held already
      return decision.apply(requireNonNull(underWay, "a decision must not be made within a look"));
    }
  }

  private <T extends @Nullable Object> T reviewed(Function<DeferredActions, T> decision, DeferredActions after) {
    try {
      holds.expire(after);
      return decision.apply(after);
    } finally {
      for (Resident block = after.nextReview(); block != null; block = after.nextReview()) {
        mover.review(block, after);
        if (!closed) {
          history.reviewed(block);
        }
      }
      watermarks.review(after);
    }
  }

  /// Reads a step of a snapshot of the visible blocks.
  SnapshotPage snapshot(int from) {
    return look(() -> {
      long sequence = events.lastSequence();
      List<TierEvent> step = new ArrayList<>();
      if (from == 0) {
        step.add(new TierEvent.SnapshotStarted(sequence, history.levels(stores.down())));
      }
      int next = index.scan(from, SNAPSHOT_KEYS, key -> {
        if (index.told(key) != 0) {
          step.add(new TierEvent.Present(sequence, key, history.levels(index.told(key))));
        }
      });
      if (next < 0) {
        step.add(new TierEvent.SnapshotEnded(sequence));
      }
      return new SnapshotPage(sequence, step, next);
    });
  }

  /// Reads the state under the lock. `question` changes nothing and makes no decision.
  <T extends @Nullable Object> T look(Supplier<T> question) {
    synchronized (lock) {
      return question.get();
    }
  }

  // Parts

  StackShape shape() {
    return shape;
  }

  StackMemory memory() {
    return memory;
  }

  EventLog events() {
    return events;
  }

  StackFigures figures() {
    return figures;
  }

  StackHistory history() {
    return history;
  }

  OffloadQueue offloads() {
    return offloads;
  }

  Mover mover() {
    return mover;
  }

  AttachedStores stores() {
    return stores;
  }

  StackIndex index() {
    return index;
  }

  Removals removals() {
    return removals;
  }

  HostRoom room() {
    return room;
  }

  HostWatermarks watermarks() {
    return watermarks;
  }

  WindowReads windows() {
    return windows;
  }

  StackHolds holds() {
    return holds;
  }

  StackWrites writes() {
    return writes;
  }

  List<Flush> flushes() {
    return flushes;
  }

  // The end

  boolean isClosed() {
    return closed;
  }

  /// @throws TierClosedException if the stack has closed
  void requireOpen() {
    if (closed) {
      throw shape.closed();
    }
  }

  /// Closes the state: gives host memory back, and keeps stored blocks until [Mover#storesClosed]. In a decision.
  void close(DeferredActions after) {
    flushes.forEach(flush -> flush.close(after));
    closed = true;
    mover.close(index.clear(), after);
    offloads.close(after);
  }
}
