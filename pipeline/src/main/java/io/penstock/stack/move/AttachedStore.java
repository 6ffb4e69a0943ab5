package io.penstock.stack.move;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StoreCopy;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.Medium;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A store of a `TierStack`: its health, its slots, the blocks that wait to be written to it ([WriteQueue]) and the
/// blocks that wait to be read from it ([ReadQueue]). One batch is under way in each queue. Windows read from the store
/// past the read queue (`StoreWindow`); transfer memory bounds these reads.
///
/// [StoreFailures] says which blocks a failed copy costs. A copy that finds the store busy waits until the store has
/// room. So the queues go on and give memory back, whatever the store does. Used in decisions only, unless a method
/// says otherwise.
public final class AttachedStore {
  private final Decisions decisions;
  private final StackShape shape;
  private final StackHistory history;
  private final LevelStates states;
  private final StoreSlots slots;
  private final Placement placement;
  private final Removals removals;
  private final StoreWaiters waiters;
  private final OffloadQueue offloads;
  private final Function<DeferredActions, BlockStore.Recovered> recovery;
  private final int level;
  private final BlockStore store;
  private final StoreFailures failures;
  private final WriteQueue writes;
  private final ReadQueue reads;

  /// @param recovery enters a block that the store of `level` kept
  AttachedStore(Decisions decisions, StackShape shape, StackHistory history, LevelStates states, StoreSlots slots,
      Placement placement, Removals removals, StoreWaiters waiters, OffloadQueue offloads,
      Function<DeferredActions, BlockStore.Recovered> recovery, int level) {
    this.decisions = decisions;
    this.shape = shape;
    this.history = history;
    this.states = states;
    this.slots = slots;
    this.placement = placement;
    this.removals = removals;
    this.waiters = waiters;
    this.offloads = offloads;
    this.recovery = recovery;
    this.level = level;
    this.store = shape.store(level);
    this.failures = new StoreFailures(decisions, history, removals, placement, slots, level, store.name());
    this.writes = new WriteQueue(decisions, shape, store);
    this.reads = new ReadQueue(decisions, shape, history, slots, failures, level);
  }

  public StoreFailures failures() {
    return failures;
  }

  // Health

  /// The error of a caller that needs this unhealthy store.
  public StoreUnavailableException unavailable() {
    return StoreUnavailableException.of(store.name(), states.of(level));
  }

  /// Listens to the store: its health, its wish for room, its damaged blocks. Outside a decision.
  public void connect() {
    store.watch(this::healthChanged);
    healthChanged();
    store.useEvictor(blocks -> decisions.answer(after -> removals.evictForRoom(level, blocks, after)));
    store.report(key -> removals.damaged(level, key));
  }

  private void healthChanged() {
    decisions.decide(after -> {
      StoreHealth now = store.health();
      if (now.state() != states.of(level).state()) {
        change(now, after);
      }
    });
  }

  private void change(StoreHealth now, DeferredActions after) {
    boolean gave = states.gives(level);
    states.set(level, now);
    tell(gave, now);
    if (now.state().takes()) {
      writes.admit();
    } else {
      writes.refuse(unavailable(), !now.state().gives(), after);
    }
    if (gave && !now.state().gives()) {
      reads.clear(after);
      waiters.interrupt(level, unavailable(), after);
    }
    if (!decisions.isClosed()) { // else only copies that are under way still matter
      resume(after);
    }
  }

  private void tell(boolean gave, StoreHealth now) {
    if (gave && !now.state().gives() && !decisions.isClosed()) {
      history.down(level, now.problem() == null ? "" : now.problem());
    } else if (!gave && now.state().gives() && !decisions.isClosed()) {
      history.up(level);
    }
  }

  private void resume(DeferredActions after) {
    if (states.gives(level)) {
      recover(after); // blocks that the store could not look for before
    }
    placement.stateChanged(level, after);
    after.then(writes::start);
    after.then(reads::start);
  }

  /// Enters the blocks that the store kept into the ledger.
  public void recover(DeferredActions after) {
    store.recover(recovery.apply(after));
  }

  // Moves

  /// Writes `block` to the store. The block is in memory, and the caller took a slot for it.
  void put(Resident block, DeferredActions after) {
    block.startMove();
    put(new Move(block), after);
  }

  /// Queues `write`: a commit, or a move to this store.
  public void put(WriteQueue.Write write, DeferredActions after) {
    writes.add(store.medium() == Medium.DISK ? offloads.counted(write) : write, after);
  }

  /// Reads `block` from this store into `draft`.
  ///
  /// @param toHost whether the block stays on the host level
  void read(Resident block, BlockDraft draft, boolean toHost, DeferredActions after) {
    reads.add(block, draft, toHost, after);
  }

  /// Closes the store itself. Outside a decision.
  public Mono<Void> close() {
    return Mono.defer(store::close);
  }

  /// Empties both queues because the stack has closed.
  void close(DeferredActions after) {
    writes.close(after);
    reads.clear(after);
  }

  /// The move of one block from host memory to this store.
  private final class Move implements WriteQueue.Write {
    private final Resident block;

    Move(Resident block) {
      this.block = block;
    }

    @Override
    public List<Block> blocks() {
      return block.isRemoved() ? List.of() : List.of(block.hostBlock());
    }

    @Override
    public void done(List<StoredBlock> stored, DeferredActions after) {
      if (stored.isEmpty()) {
        after.then(() -> slots.release(level));
      } else {
        int from = block.isOnHostLevel() ? shape.host() : block.fastestStore();
        history.moved(from, level, 1, after);
        block.addCopy(level, new StoreCopy(stored.getFirst()));
      }
      block.endMove(after);
    }

    @Override
    public void failed(Throwable error, DeferredActions after) {
      failures.notTaken(block, error, after);
      after.then(() -> slots.release(level));
      block.endMove(after);
    }
  }
}
