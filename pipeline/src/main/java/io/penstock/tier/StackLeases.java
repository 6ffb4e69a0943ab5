package io.penstock.tier;

import io.penstock.block.BlockKey;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The open leases of a [TierStack]. Decides on the keys of a new lease one by one, in the order of the request.
final class StackLeases {
  private final StackState state;
  private final StackWrites writes;
  /// Most keys of one decision, unless decisions are exact: others may decide in between.
  static final int DECISION_KEYS = 1024;
  /// A lease, or a window, holds at most this part of the blocks that may still be held.
  private static final int PART = 16;

  // Used in decisions only
  private final Set<StackLease> leases = new LinkedHashSet<>();
  /// Keys that open leases admitted.
  private long admitted;
  private final LeasePrefetch prefetch;

  StackLeases(StackState state, StackWrites writes) {
    this.state = state;
    this.writes = writes;
    this.prefetch = new LeasePrefetch(state, this);
  }

  /// Reads ahead of a read that will name a read lease.
  LeasePrefetch prefetch() {
    return prefetch;
  }

  /// What one decision does with the keys from `first` to before `end`.
  interface Step {
    void decide(int first, int end, DeferredActions after);
  }

  /// Has `step` decide on `keys`: in one decision if decisions are exact, else in several.
  void inDecisions(List<BlockKey> keys, Step step) {
    int most = state.shape().options().exact() ? Math.max(1, keys.size()) : DECISION_KEYS;
    for (int from = 0; from == 0 || from < keys.size(); from += most) {
      int first = from;
      int end = Math.min(keys.size(), from + most);
      state.decide(after -> step.decide(first, end, after));
    }
  }

  /// Decides on `keys`, and leases the blocks that are visible or will be written.
  StackLease lease(List<BlockKey> keys, OnMiss onMiss) {
    return fill(new StackLease(state, this, keys.size(), null), keys, onMiss);
  }

  /// The same for the visible blocks, under the read lease `id`.
  ///
  /// @throws LeaseExpiredException if no lease has this id
  StackLease read(long id, List<BlockKey> keys) {
    return fill(new StackLease(state, this, keys.size(), startRead(id)), keys, OnMiss.SKIP);
  }

  private HeldLease startRead(long id) {
    return state.answer(after -> {
      state.requireOpen();
      HeldLease live = state.holds().live(id);
      state.holds().startRead(live);
      return live;
    });
  }

  /// A read of the blocks of `keys` that are on slower levels, under the read lease `id`: it promotes them, and counts
  /// no hit.
  ///
  /// @throws LeaseExpiredException if no lease has this id
  StackLease prefetch(long id, List<BlockKey> keys) {
    return fill(new StackLease(state, this, keys.size(), startRead(id)), keys, (lease, first, end, after) -> {
      state.requireOpen();
      for (int i = first; i < end; i++) {
        if (state.index().find(keys.get(i), after) instanceof Resident block && !block.isInMemory()
            && state.stores().isReadable(block)) {
          state.index().promote(keys.get(i), i, after);
          lease.find(i, block);
        }
      }
    });
  }

  private StackLease fill(StackLease lease, List<BlockKey> keys, OnMiss onMiss) {
    return fill(lease, keys, (any, first, end, after) -> decide(lease, keys, first, end, onMiss, after));
  }

  /// What one decision enters in a lease of the keys from `first` to before `end`.
  private interface Fill {
    void decide(StackLease lease, int first, int end, DeferredActions after);
  }

  private StackLease fill(StackLease lease, List<BlockKey> keys, Fill fill) {
    try {
      inDecisions(keys, (first, end, after) -> {
        leases.add(lease);
        fill.decide(lease, first, end, after);
      });
    } catch (Throwable e) { // from a store: no reader gets the lease, so none would close it
      lease.close();
      throw e;
    }
    return lease;
  }

  private void decide(StackLease lease, List<BlockKey> keys, int first, int end, OnMiss onMiss, DeferredActions after) {
    state.requireOpen();
    int hits = lease.hitCount();
    for (int i = first; i < end; i++) {
      BlockKey key = keys.get(i);
      decide(lease, i, key, onMiss, after);
      if (state.history().samples(key)) {
        state.history().asked(key, writes.pending(key) != null);
      }
    }
    state.history().referenced(end - first, lease.hitCount() - hits, after);
  }

  private void decide(StackLease lease, int position, BlockKey key, OnMiss onMiss, DeferredActions after) {
    StackEntry entry = state.index().find(key, after);
    if (entry instanceof Resident block && state.stores().isReadable(block)) {
      state.index().hit(key, block.level(), position, after);
      state.holds().hit(block, after);
      lease.hit(position);
      lease.find(position, block);
    } else if (entry instanceof Pending block && onMiss != OnMiss.SKIP) {
      state.index().hit(key, state.index().level(key), position, after);
      lease.hit(position);
      lease.await(position, block);
    } else if (!(entry instanceof Pending) && onMiss != OnMiss.SKIP) {
      miss(lease, position, key, onMiss, after);
    }
  }

  private void miss(StackLease lease, int position, BlockKey key, OnMiss onMiss, DeferredActions after) {
    Pending block = writes.pending(key);
    boolean exact = state.shape().options().exact();
    if (block != null) {
      if (!exact) { // else the policy has evicted it while it is written
        lease.hit(position);
      }
      lease.await(position, block);
    } else if (onMiss == OnMiss.ADMIT && mayAdmit(lease.admittedCount())) {
      block = writes.admit(key, position, lease);
      lease.admit(position, block);
    }
    if (block != null && onMiss == OnMiss.ADMIT && exact) {
      state.index().enter(block, after);
    }
  }

  /// Whether a lease that admitted `keys` may admit one more. If decisions are not exact, leases admit no more keys
  /// than the levels have room for, and a lease no more than it leaves to others: a promise to write blocks keeps
  /// others from writing them.
  private boolean mayAdmit(long keys) {
    return state.shape().options().exact() || keys < state.shape().info().capacityBlocks() - admitted;
  }

  /// Open leases admitted `keys` more, or fewer if negative.
  void admitted(int keys) {
    admitted += keys;
  }

  /// Whether a lease that holds `blocks` may hold one more. If decisions are not exact, leases and windows hold three
  /// quarters of the host level at most, and each holds the less the more there are: so writers find memory, and new
  /// readers find blocks to hold, beside readers that stand still.
  boolean mayHold(int blocks) {
    return blocks < part();
  }

  /// How many blocks the next window may have, of `wanted`; at least one.
  int mayTake(int wanted) {
    return (int) Math.min(wanted, Math.max(1, part()));
  }

  /// Whether leases and windows may hold only so many blocks.
  boolean areBounded() {
    return !state.shape().options().exact() && state.shape().host() >= 0;
  }

  private long part() {
    return areBounded() ? Math.ceilDiv(state.holds().free(), PART) : Long.MAX_VALUE;
  }

  /// `blocks` more are held, or fewer if negative.
  void hold(int blocks) {
    state.holds().hold(blocks);
  }

  /// What `item` stands for now; null if the stack has it no more.
  @Nullable LeaseItem held(LeaseItem item, DeferredActions after) {
    if (!(item instanceof LeaseItem.Named named)) {
      return item;
    }
    return state.index().find(named.key(), after) instanceof Resident block && state.stores().isReadable(block)
        ? LeaseItem.of(named.position(), block)
        : null;
  }

  /// Removes `lease`, which waited for `pending`, and revokes its admissions that no writer took over.
  void ended(StackLease lease, List<Pending> pending, DeferredActions after) {
    leases.remove(lease);
    pending.stream().filter(block -> block.isAdmittedBy(lease)).forEach(block -> writes.revoke(block, after));
  }

  /// Ends all leases because the stack has closed, and tells their readers. In a decision.
  void close(DeferredActions after) {
    for (StackLease lease : leases) {
      after.then(lease::signal);
      after.then(lease::close);
    }
  }
}
