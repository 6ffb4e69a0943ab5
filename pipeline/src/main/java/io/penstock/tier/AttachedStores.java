package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The stores of a [TierStack], by level. Used in decisions only, except [#forEach] and [#at].
final class AttachedStores {
  private final StackShape shape;
  private final @Nullable AttachedStore[] stores;

  AttachedStores(StackState state) {
    this.shape = state.shape();
    this.stores = new @Nullable AttachedStore[shape.levels().size()];
    for (int i = 0; i < stores.length; i++) {
      if (shape.levels().get(i) instanceof StackLevel.Stored stored) {
        stores[i] = new AttachedStore(state, i, stored);
      }
    }
  }

  AttachedStore at(int level) {
    return requireNonNull(stores[level], "store");
  }

  void forEach(Consumer<AttachedStore> each) {
    for (AttachedStore store : stores) {
      if (store != null) {
        each.accept(store);
      }
    }
  }

  /// Whether `level` takes blocks now.
  boolean takes(int level) {
    AttachedStore store = stores[level];
    return store == null || store.state().takes();
  }

  /// The places of the stores that give blocks now: [StackShape#place]. From any thread.
  int givingPlaces() {
    int places = 0;
    for (int level = 0; level < stores.length; level++) {
      places |= stores[level] != null && gives(level) ? StackShape.place(level) : 0;
    }
    return places;
  }

  /// Whether blocks of `level` can be read now. From any thread.
  boolean gives(int level) {
    AttachedStore store = stores[level];
    return store == null || store.state().gives();
  }

  /// The levels that give no blocks now, a bit each.
  long down() {
    long down = 0;
    for (int level = 0; level < stores.length; level++) {
      down |= gives(level) ? 0 : 1L << level;
    }
    return down;
  }

  /// The level of the fastest store that has `block` and gives blocks now. If no such store gives blocks, the fastest
  /// that has it; −1 if no store has it.
  int readableLevel(Resident block) {
    for (int level = 0; level < stores.length; level++) {
      if (block.isStored(level) && gives(level)) {
        return level;
      }
    }
    return block.fastestStore();
  }

  /// Whether the bytes of `block` can be read now.
  boolean isReadable(Resident block) {
    if (block.isInMemory()) {
      return true;
    }
    int level = readableLevel(block);
    return level >= 0 && gives(level);
  }

  StoreHealth health(int level) {
    return stores[level] == null ? StoreHealth.GOOD : shape.store(level).health();
  }

  TierStat.@Nullable Copies copies(int level) {
    return stores[level] == null ? null : shape.store(level).copies();
  }

  TierStat.@Nullable Disk diskStat(int level) {
    return stores[level] == null ? null : shape.store(level).diskStat();
  }
}
