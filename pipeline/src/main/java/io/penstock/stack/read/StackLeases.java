package io.penstock.stack.read;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionUse;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Pending;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackEntry;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.hold.HeldLease;
import io.penstock.stack.hold.StackHolds;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.ledger.PendingBlocks;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.move.Removals;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;

/// The open leases of a `TierStack`. Decides on the keys of a new lease one by one, in the order of the request.
public final class StackLeases implements StackLease.Owner {
  private final Decisions decisions;
  private final StackShape shape;
  private final StackIndex index;
  private final LevelStates states;
  private final StackFigures figures;
  private final StackHolds holds;
  private final StackHistory history;
  private final PendingBlocks pending;
  private final LeaseBounds bounds;
  private final Removals removals;
  private final WindowReads reads;
  /// Maximum number of keys of one decision, unless decisions are exact: others may decide in between.
  public static final int DECISION_KEYS = 1024;
  // Used in decisions only
  private final Set<StackLease> leases = new LinkedHashSet<>();

  public StackLeases(Decisions decisions, StackShape shape, StackIndex index, LevelStates states, StackFigures figures,
      StackHolds holds, StackHistory history, PendingBlocks pending, Removals removals, WindowReads reads) {
    this.decisions = decisions;
    this.shape = shape;
    this.index = index;
    this.states = states;
    this.figures = figures;
    this.holds = holds;
    this.history = history;
    this.pending = pending;
    this.removals = removals;
    this.reads = reads;
    this.bounds = new LeaseBounds(shape, index, states, holds);
  }

  /// Decision on the keys from `first` to before `end`.
  public interface Step {
    void decide(int first, int end, DeferredActions after);
  }

  /// Runs `step` for all `keys`: in one decision if decisions are exact, else in several.
  public void inDecisions(List<BlockKey> keys, Step step) {
    int most = shape.options().exact() ? Math.max(1, keys.size()) : DECISION_KEYS;
    for (int from = 0; from == 0 || from < keys.size(); from += most) {
      int first = from;
      int end = Math.min(keys.size(), from + most);
      decisions.decide(after -> step.decide(first, end, after));
    }
  }

  /// Decides on `keys`, and leases the blocks that are visible or will be written.
  ///
  /// @param session of the request; null for none
  public StackLease lease(List<BlockKey> keys, OnMiss onMiss, @Nullable SessionUse session) {
    return fill(new StackLease(decisions, shape, holds, bounds, this, keys.size(), null), keys,
        (lease, first, end, after) -> index.during(session, first == 0,
            () -> decide(lease, keys, first, end, onMiss, after)));
  }

  /// Decides on `keys` as [#lease] does that skips what is missing, and shares the blocks at once.
  ///
  /// @return null, with nothing decided, if a block has to be read from a store, or a lease may not hold so many
  public @Nullable List<LeasedBlock> tryGet(List<BlockKey> keys, @Nullable SessionUse session) {
    List<LeasedBlock> blocks = new ArrayList<>(Math.min(keys.size(), DECISION_KEYS));
    try {
      boolean decided = keys.size() <= DECISION_KEYS && decisions.answer(after -> {
        decisions.requireOpen();
        boolean inMemory = areInMemory(keys, after);
        if (inMemory) {
          index.during(session, true, () -> share(keys, blocks, after));
        }
        return inMemory;
      });
      return decided ? blocks : null;
    } catch (Throwable e) { // from a store: no caller gets the blocks, so none would close them
      blocks.forEach(leased -> leased.block().close());
      throw e;
    }
  }

  private boolean areInMemory(List<BlockKey> keys, DeferredActions after) {
    int found = 0;
    for (BlockKey key : keys) {
      Resident block = visible(key, after);
      if (block != null) {
        if (!block.isInMemory() || !bounds.mayHold(found)) {
          return false;
        }
        found++;
      }
    }
    return true;
  }

  private @Nullable Resident visible(BlockKey key, DeferredActions after) {
    return index.find(key, after) instanceof Resident block && states.isReadable(block) ? block : null;
  }

  private void share(List<BlockKey> keys, List<LeasedBlock> blocks, DeferredActions after) {
    for (int i = 0; i < keys.size(); i++) {
      BlockKey key = keys.get(i);
      Resident block = visible(key, after);
      if (block != null && block.isInMemory()) { // else the hit of another key has evicted it
        blocks.add(new LeasedBlock(i, block.hostBlock().share()));
        index.hit(key, block.level(), i, after);
        holds.hit(block, after);
      }
      sample(key);
    }
    history.referenced(keys.size(), blocks.size(), after);
  }

  private void sample(BlockKey key) {
    if (history.samples(key)) {
      history.asked(key, pending.of(key) != null);
    }
  }

  /// Leases the visible blocks of `keys`, which counts as no use and promotes none.
  public StackLease peek(List<BlockKey> keys) {
    return fill(new StackLease(decisions, shape, holds, bounds, this, keys.size(), null), keys,
        (lease, first, end, after) -> {
          decisions.requireOpen();
          for (int i = first; i < end; i++) {
            if (index.find(keys.get(i), after) instanceof Resident block && states.isReadable(block)) {
              lease.find(i, block);
            }
          }
        });
  }

  /// Leases the visible blocks under the read lease `id`.
  ///
  /// @throws LeaseExpiredException if no lease has this id
  public StackLease read(long id, List<BlockKey> keys) {
    return fill(new StackLease(decisions, shape, holds, bounds, this, keys.size(), startRead(id)), keys, OnMiss.SKIP);
  }

  private HeldLease startRead(long id) {
    return decisions.answer(after -> {
      decisions.requireOpen();
      HeldLease live = holds.live(id);
      holds.startRead(live);
      return live;
    });
  }

  /// A read of the blocks of `keys` that are on slower levels, under the read lease `id`: it promotes them, and counts
  /// no hit.
  ///
  /// @throws LeaseExpiredException if no lease has this id
  StackLease prefetch(long id, List<BlockKey> keys) {
    return fill(new StackLease(decisions, shape, holds, bounds, this, keys.size(), startRead(id)), keys,
        (lease, first, end, after) -> {
          decisions.requireOpen();
          for (int i = first; i < end; i++) {
            if (index.find(keys.get(i), after) instanceof Resident block && !block.isInMemory()
                && states.isReadable(block)) {
              index.promote(keys.get(i), i, after);
              lease.find(i, block);
            }
          }
        });
  }

  private StackLease fill(StackLease lease, List<BlockKey> keys, OnMiss onMiss) {
    return fill(lease, keys, (any, first, end, after) -> decide(lease, keys, first, end, onMiss, after));
  }

  /// Enters the keys from `first` to before `end` in a lease, in one decision.
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
    decisions.requireOpen();
    int hits = lease.hitCount();
    for (int i = first; i < end; i++) {
      BlockKey key = keys.get(i);
      decide(lease, i, key, onMiss, after);
      sample(key);
    }
    history.referenced(end - first, lease.hitCount() - hits, after);
  }

  private void decide(StackLease lease, int position, BlockKey key, OnMiss onMiss, DeferredActions after) {
    StackEntry entry = index.find(key, after);
    if (entry instanceof Resident block && states.isReadable(block)) {
      index.hit(key, block.level(), position, after);
      holds.hit(block, after);
      lease.hit(position);
      lease.find(position, block);
    } else if (entry instanceof Pending block && onMiss != OnMiss.SKIP) {
      index.hit(key, index.level(key), position, after);
      lease.hit(position);
      lease.await(position, block);
    } else if (!(entry instanceof Pending) && onMiss != OnMiss.SKIP) {
      miss(lease, position, key, onMiss, after);
    }
  }

  private void miss(StackLease lease, int position, BlockKey key, OnMiss onMiss, DeferredActions after) {
    Pending block = pending.of(key);
    boolean exact = shape.options().exact();
    if (block != null) {
      if (!exact) { // else the policy has evicted it while it is written
        lease.hit(position);
      }
      lease.await(position, block);
    } else if (onMiss == OnMiss.ADMIT && bounds.mayAdmit(lease.admittedCount())) {
      block = pending.add(key, position, lease);
      lease.admit(position, block);
    }
    if (block != null && onMiss == OnMiss.ADMIT && exact) {
      index.enter(block, after);
    }
  }

  @Override
  public void ended(StackLease lease, List<Pending> awaited, DeferredActions after) {
    leases.remove(lease);
    for (Pending block : awaited) {
      if (block.isAdmittedBy(lease)) {
        pending.revoke(block, after);
      }
    }
  }

  @Override
  public LeaseWindows open(StackLease lease, Subscriber<? super LeasedWindow> subscriber, SliceShape slices,
      BlockScope scope) {
    return new LeaseWindows(decisions, shape, figures, removals, reads, lease, subscriber, slices, scope);
  }

  /// Ends all leases because the stack has closed, and signals their readers. In a decision.
  public void close(DeferredActions after) {
    for (StackLease lease : leases) {
      after.then(lease::signal);
      after.then(lease::close);
    }
  }
}
