package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.Permits;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A store of a [TierStack]: its health, its slots, the blocks that wait to be written to it ([WriteQueue]) and the
/// blocks that wait to be read from it ([ReadQueue]). One batch is under way in each queue. Windows read from the store
/// past the read queue ([StoreWindow]); transfer memory bounds these reads.
///
/// [StoreFailures] says which blocks a failed copy costs. A copy that finds the store busy waits until the store has
/// room. So the queues go on and give memory back, whatever the store does. Used in decisions only, unless a method
/// says otherwise.
final class AttachedStore {
  private final StackState state;
  private final int level;
  private final BlockStore store;
  private final StoreFailures failures;
  private final WriteQueue writes;
  private final ReadQueue reads;
  /// Slots of the store; null for a store without a fixed number of slots, such as a disk.
  private final @Nullable Permits slots;
  private volatile StoreHealth health = StoreHealth.GOOD;

  AttachedStore(StackState state, int level, StackLevel.Stored stored) {
    this.state = state;
    this.level = level;
    this.store = stored.store();
    this.failures = new StoreFailures(state, level, store.name());
    this.writes = new WriteQueue(state, store);
    this.reads = new ReadQueue(state, level, this);
    this.slots = stored.medium() == Medium.DISK
        ? null
        : new Permits(stored.name() + " slots", Math.min(store.capacityBlocks(), Integer.MAX_VALUE),
            (int) state.memory().arena().capacitySlots());
  }

  StoreFailures failures() {
    return failures;
  }

  // Health

  /// The state of the store as the stack last heard of it.
  StoreHealth.State state() {
    return health.state();
  }

  /// The error of a caller that needs this unhealthy store.
  StoreUnavailableException unavailable() {
    return StoreUnavailableException.of(store.name(), health);
  }

  /// Listens to the store: its health, its wish for room, its damaged blocks. Outside a decision.
  void connect() {
    store.watch(this::healthChanged);
    healthChanged();
    store.useEvictor(blocks -> state.answer(after -> state.removals().evictForRoom(level, blocks, after)));
    store.report(key -> state.removals().damaged(level, key));
  }

  private void healthChanged() {
    state.decide(after -> {
      StoreHealth now = store.health();
      if (now.state() != health.state()) {
        change(now, after);
      }
    });
  }

  private void change(StoreHealth now, DeferredActions after) {
    boolean gave = health.state().gives();
    health = now;
    tell(gave, now);
    if (now.state().takes()) {
      writes.admit();
    } else {
      writes.refuse(unavailable(), !now.state().gives(), after);
    }
    if (gave && !now.state().gives()) {
      reads.clear(after);
      state.windows().interrupt(level, unavailable(), after);
    }
    if (!state.isClosed()) { // else only copies that are under way still matter
      resume(after);
    }
  }

  private void tell(boolean gave, StoreHealth now) {
    if (gave && !now.state().gives() && !state.isClosed()) {
      state.history().down(level, now.problem() == null ? "" : now.problem());
    } else if (!gave && now.state().gives() && !state.isClosed()) {
      state.history().up(level);
    }
  }

  private void resume(DeferredActions after) {
    if (health.state().gives()) {
      recover(after); // blocks that the store could not look for before
    }
    state.mover().stateChanged(level, after);
    after.then(writes::start);
    after.then(reads::start);
  }

  /// Enters the blocks that the store kept into the ledger.
  void recover(DeferredActions after) {
    store.recover(new Recovery(state, level, after));
  }

  // Slots

  /// Takes a slot if one is free and no block waits for one.
  boolean tryTakeSlot() {
    return slots == null || slots.tryAcquire(1);
  }

  /// Runs `granted` once a slot was taken for it. Outside a decision.
  Permits.Ticket takeSlot(Runnable granted) {
    return requireNonNull(slots).acquire(1, granted);
  }

  /// Frees a slot. Outside a decision.
  void releaseSlot() {
    if (slots != null) {
      slots.release(1);
    }
  }

  // Copies in the store

  /// Drops `copy`. The slot becomes free when the last read of the copy has ended.
  void drop(StoreCopy copy, DeferredActions after) {
    if (copy.drop()) {
      free(copy, after);
    }
  }

  void endRead(StoreCopy copy, DeferredActions after) {
    if (copy.endRead()) {
      free(copy, after);
    }
  }

  private void free(StoreCopy copy, DeferredActions after) {
    after.close(copy.block());
    after.then(this::releaseSlot);
  }

  // Moves

  /// Writes `block` to the store. The block is in memory, and the caller took a slot for it.
  void put(Resident block, DeferredActions after) {
    block.startMove();
    put(new Move(block), after);
  }

  /// Queues `write`: a commit, or a move to this store.
  void put(WriteQueue.Write write, DeferredActions after) {
    writes.add(store.medium() == Medium.DISK ? state.offloads().counted(write) : write, after);
  }

  /// Reads `block` from this store into `draft`.
  ///
  /// @param toHost whether the block stays on the host level
  void read(Resident block, BlockDraft draft, boolean toHost, DeferredActions after) {
    reads.add(block, draft, toHost, after);
  }

  /// Closes the store itself. Outside a decision.
  Mono<Void> close() {
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
        after.then(AttachedStore.this::releaseSlot);
      } else {
        int from = block.isOnHostLevel() ? state.shape().host() : block.fastestStore();
        state.history().moved(from, level, 1, after);
        block.addCopy(level, new StoreCopy(stored.getFirst()));
      }
      block.endMove(after);
    }

    @Override
    public void failed(Throwable error, DeferredActions after) {
      failures.notTaken(block, error, after);
      after.then(AttachedStore.this::releaseSlot);
      block.endMove(after);
    }
  }
}
