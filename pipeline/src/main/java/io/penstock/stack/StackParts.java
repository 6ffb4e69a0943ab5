package io.penstock.stack;

import io.penstock.block.BlockKey;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.hold.StackHolds;
import io.penstock.stack.ledger.EventLog;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.ledger.PendingBlocks;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.ledger.StackSnapshots;
import io.penstock.stack.move.AttachedStore;
import io.penstock.stack.move.AttachedStores;
import io.penstock.stack.move.Flushes;
import io.penstock.stack.move.HostRoom;
import io.penstock.stack.move.HostWatermarks;
import io.penstock.stack.move.MoveQueue;
import io.penstock.stack.move.Mover;
import io.penstock.stack.move.OffloadQueue;
import io.penstock.stack.move.Placement;
import io.penstock.stack.move.Removals;
import io.penstock.stack.move.StackMemory;
import io.penstock.stack.move.StoreSlots;
import io.penstock.stack.move.StoreWaiters;
import io.penstock.stack.read.LeasePrefetch;
import io.penstock.stack.read.StackLeases;
import io.penstock.stack.read.WindowReads;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackShape;
import io.penstock.stack.write.StackWrites;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.TierInputs;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.LongSupplier;
import reactor.core.publisher.Mono;

/// The parts of a [TierStack], made in the order in which they need each other, and what they do together: every
/// decision ([Decisions.Rules]), the figures, the end. No part knows this class.
final class StackParts implements Decisions.Rules {
  final StackShape shape;
  final Decisions decisions;
  final StackMemory memory;
  final EventLog events;
  final StackHistory history;
  final StackIndex index;
  final StackSnapshots snapshots;
  final Removals removals;
  final HostRoom room;
  final Flushes flushes;
  final StackWrites writes;
  final StackLeases leases;
  private final StackFigures figures;
  private final LevelStates states;
  private final PendingBlocks pending;
  private final OffloadQueue offloads;
  private final AttachedStores stores;
  private final Mover mover;
  final HostWatermarks watermarks;
  private final StackHolds holds;
  private final LeasePrefetch prefetch;

  StackParts(StackShape shape, StackOptions.Sampling sampling) {
    TierInputs inputs = shape.inputs();
    LongSupplier nanos = inputs::nanos;
    this.shape = shape;
    this.decisions = new Decisions(shape, this); // the parts below exist before the first decision
    this.memory = new StackMemory(shape);
    this.events = new EventLog(shape.options().eventLogSize(), inputs::decided);
    this.figures = new StackFigures(shape);
    // Ledger
    this.history = new StackHistory(shape, figures, events, sampling);
    this.states = new LevelStates(shape);
    this.index = new StackIndex(shape, figures, history, states);
    this.pending = new PendingBlocks(index);
    this.snapshots = new StackSnapshots(decisions, index, states, history, events);
    // Moves
    StoreSlots slots = new StoreSlots(shape, (int) memory.arena().capacitySlots());
    StoreWaiters waiters = new StoreWaiters();
    Placement placement = new Placement(decisions, shape, states);
    this.removals = new Removals(shape, decisions, index, history, figures, pending, slots);
    this.offloads = new OffloadQueue(decisions, shape, figures, nanos);
    this.stores = new AttachedStores(decisions, shape, index, history, figures, states, slots, placement, removals,
        waiters, offloads);
    MoveQueue queue = new MoveQueue(decisions, shape, memory, history, slots, stores, placement, removals);
    this.mover = new Mover(decisions, shape, index, states, slots, stores, placement, queue, removals);
    this.watermarks = new HostWatermarks(decisions, shape, index, states, offloads, figures);
    this.room = new HostRoom(decisions, shape, memory, index, watermarks);
    this.flushes = new Flushes(decisions, shape, index, offloads, placement);
    // Holds, reads, writes
    this.holds = new StackHolds(decisions, shape, index, figures, nanos, inputs::draw);
    WindowReads reads = new WindowReads(decisions, shape, memory, states, slots, stores, history, placement, waiters);
    this.leases = new StackLeases(decisions, shape, index, states, figures, holds, history, pending, removals, reads);
    this.prefetch = new LeasePrefetch(decisions, shape, holds, leases);
    this.writes = new StackWrites(decisions, shape, index, states, figures, history, holds, offloads, room, memory,
        pending, stores);
  }

  /// Enters the blocks that the stores kept into the ledger, and begins to listen to the stores.
  void open() {
    decisions.decide(after -> stores.forEach(store -> store.recover(after)));
    stores.forEach(AttachedStore::connect);
    room.attach();
  }

  // Decisions

  @Override
  public void begin(DeferredActions after) {
    holds.expire(after);
  }

  @Override
  public void review(Resident block, DeferredActions after) {
    mover.review(block, after);
    if (!decisions.isClosed()) {
      history.reviewed(block);
    }
  }

  @Override
  public void end(DeferredActions after) {
    watermarks.review(after);
  }

  @Override
  public void emit() {
    events.signal();
  }

  @Override
  public void signal() {
    flushes.signal();
  }

  // What a caller asks for

  StackPartyHolds holds(Object party) {
    return new StackPartyHolds(decisions, shape, index, states, holds, removals, room, leases, prefetch,
        holds.enter(party));
  }

  /// The figures now. In a decision.
  TierStat stat() {
    List<TierStat.Level> levels = new ArrayList<>(figures.levels());
    for (int i = 0; i < figures.levels(); i++) {
      long capacity = i == shape.host() ? index.hostCapacity() : shape.levels().get(i).capacityBlocks(); // may change
      levels.add(figures.level(i, capacity, stores.health(i), stores.copies(i), stores.diskStat(i)));
    }
    return figures.stat(memory.arena().claimedSlots(), events.lastSequence(), levels, holds.leases(),
        holds.mostLeased(), holds.mostPinned()).withOldestUseMicros(index.oldestUse());
  }

  /// Length of the prefix of `keys` that is visible or being written. Under the lock.
  int promised(List<BlockKey> keys) {
    BitSet visible = index.lookups().visible(keys);
    int length = 0;
    while (length < keys.size() && (visible.get(length) || pending.isReserved(keys.get(length)))) {
      length++;
    }
    return length;
  }

  /// Terms with which the visible blocks of `keys` would be kept alike elsewhere. Under the lock.
  List<PutTerms> terms(List<BlockKey> keys) {
    BitSet visible = index.lookups().visible(keys);
    List<PutTerms> terms = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      BlockKey key = keys.get(i);
      terms.add(visible.get(i) ? holds.terms(index.resident(key)).withSession(index.session(key)) : PutTerms.plain());
    }
    return terms;
  }

  // The end

  /// Ends every wait, closes the stores, and completes when they have closed.
  Mono<Void> close() {
    decisions.decide(after -> {
      flushes.close(after);
      decisions.close();
      mover.close(index.clear(), after);
      offloads.close(after);
      writes.close(after);
      leases.close(after);
    });
    events.close();
    List<Mono<Void>> closing = new ArrayList<>();
    stores.forEach(store -> closing.add(store.close()));
    return Mono.whenDelayError(closing).doOnTerminate(this::storesClosed);
  }

  private void storesClosed() {
    decisions.decide(after -> {
      mover.storesClosed(after);
      after.then(memory.arena()::close);
    });
  }
}
