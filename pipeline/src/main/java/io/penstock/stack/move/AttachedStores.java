package io.penstock.stack.move;

import static java.util.Objects.requireNonNull;

import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierStat;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The stores of a `TierStack`, by level. Used in decisions only, except [#forEach] and [#at].
public final class AttachedStores {
  private final StackShape shape;
  private final @Nullable AttachedStore[] stores;

  public AttachedStores(Decisions decisions, StackShape shape, StackIndex index, StackHistory history,
      StackFigures figures,
      LevelStates states, StoreSlots slots, Placement placement, Removals removals, StoreWaiters waiters,
      OffloadQueue offloads) {
    this.shape = shape;
    this.stores = new @Nullable AttachedStore[shape.levels().size()];
    for (int i = 0; i < stores.length; i++) {
      if (i != shape.host()) {
        int level = i;
        stores[i] = new AttachedStore(decisions, shape, history, states, slots, placement, removals, waiters, offloads,
            after -> new Recovery(shape, index, history, figures, level, after), level);
      }
    }
  }

  public AttachedStore at(int level) {
    return requireNonNull(stores[level], "store");
  }

  public void forEach(Consumer<AttachedStore> each) {
    for (AttachedStore store : stores) {
      if (store != null) {
        each.accept(store);
      }
    }
  }

  public StoreHealth health(int level) {
    return stores[level] == null ? StoreHealth.GOOD : shape.store(level).health();
  }

  public TierStat.@Nullable Copies copies(int level) {
    return stores[level] == null ? null : shape.store(level).copies();
  }

  public TierStat.@Nullable Disk diskStat(int level) {
    return stores[level] == null ? null : shape.store(level).diskStat();
  }
}
