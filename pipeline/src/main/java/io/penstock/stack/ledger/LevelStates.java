package io.penstock.stack.ledger;

import io.penstock.stack.decision.Resident;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.StoreHealth;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// The health of the levels of a `TierStack`, as the stores last reported it. Host memory is always healthy. Methods
/// that take a [Resident] are used in decisions only; the others on any thread.
public final class LevelStates {
  private final StackShape shape;
  private final AtomicReferenceArray<StoreHealth> levels;

  public LevelStates(StackShape shape) {
    this.shape = shape;
    this.levels = new AtomicReferenceArray<>(shape.levels().size());
    for (int level = 0; level < levels.length(); level++) {
      levels.set(level, StoreHealth.GOOD);
    }
  }

  /// The last reported health of `level`.
  public StoreHealth of(int level) {
    return levels.get(level);
  }

  /// Records the health of `level`. In decisions only.
  public void set(int level, StoreHealth now) {
    levels.set(level, now);
  }

  /// Whether `level` takes blocks now.
  public boolean takes(int level) {
    return levels.get(level).state().takes();
  }

  /// Whether blocks of `level` can be read now.
  public boolean gives(int level) {
    return levels.get(level).state().gives();
  }

  /// The places of the stores that give blocks now: [StackShape#place].
  int givingPlaces() {
    int places = 0;
    for (int level = 0; level < levels.length(); level++) {
      places |= level != shape.host() && gives(level) ? StackShape.place(level) : 0;
    }
    return places;
  }

  /// The levels that give no blocks now, a bit each.
  long down() {
    long down = 0;
    for (int level = 0; level < levels.length(); level++) {
      down |= gives(level) ? 0 : 1L << level;
    }
    return down;
  }

  /// The level of the fastest store that has `block` and gives blocks now. If no such store gives blocks, the fastest
  /// that has it; −1 if no store has it.
  public int readableLevel(Resident block) {
    for (int level = 0; level < levels.length(); level++) {
      if (block.isStored(level) && gives(level)) {
        return level;
      }
    }
    return block.fastestStore();
  }

  /// Whether the bytes of `block` can be read now.
  public boolean isReadable(Resident block) {
    if (block.isInMemory()) {
      return true;
    }
    int level = readableLevel(block);
    return level >= 0 && gives(level);
  }
}
