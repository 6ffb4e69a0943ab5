package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the ledger of a [TierStack] remembers of a key. Guarded by the stack's lock.
sealed interface StackEntry {
  /// A visible block and where its bytes are: in host memory, at places of stores, or both while they move.
  final class Resident implements StackEntry {
    final BlockKey key;
    /// The level that the books put it on.
    int level;
    /// True once it left the books: it goes away as soon as nobody reads or moves it.
    boolean gone;
    /// True if its bytes are no longer anywhere, or the books have only the number of its place: this object is over
    /// then.
    boolean released;
    /// The stack's own handle on its bytes in host memory.
    @Nullable Block host;
    /// Whether `host` is charged to the host level, not to one of the slots for blocks on their way.
    boolean atHost;
    /// Where its bytes rest, by level; null for none.
    final @Nullable Place[] places;
    /// Whether its bytes are on a level, and whether they are in stores alone, as the [StackFigures] have it.
    final boolean[] counted;
    boolean restingOnly;
    /// Leases that were promised the block and hold no share of its memory yet.
    int pins;
    /// True while a copy to or from a store is under way for its move.
    boolean moving;
    /// What its move waits for.
    @Nullable MoveWait wait;

    Resident(BlockKey key, int level, int levels) {
      this.key = key;
      this.level = level;
      this.places = new @Nullable Place[levels];
      this.counted = new boolean[levels];
    }

    /// The fastest store that has it, −1 if none.
    int fastestPlace() {
      for (int i = 0; i < places.length; i++) {
        if (places[i] != null) {
          return i;
        }
      }
      return -1;
    }

    /// Whether its bytes rest in the store of `level` alone, and nobody has to do with it now: the number of its place
    /// will do then.
    boolean isColdAt(int level) {
      Place place = places[level];
      return !gone && !moving && wait == null && pins == 0 && place != null && place.reads == 0 && !hasOtherThan(level);
    }

    /// Whether its bytes are anywhere but in the store of `level`.
    boolean hasOtherThan(int level) {
      for (int i = 0; i < places.length; i++) {
        if (i != level && places[i] != null) {
          return true;
        }
      }
      return host != null;
    }
  }

  /// A block that somebody is writing or is about to write, and the leases that wait for it.
  final class Pending implements StackEntry {
    final BlockKey key;
    /// The lease that admitted the key and is still open; null once a writer took it over.
    @Nullable StackLease admittedBy;
    /// Whether the ledger counts it; false once the policy chose it as victim before its bytes came.
    boolean listed;
    private final List<Waiter> waiters = new ArrayList<>(1);

    record Waiter(StackLease lease, int position) {}

    Pending(BlockKey key, @Nullable StackLease admittedBy) {
      this.key = key;
      this.admittedBy = admittedBy;
    }

    void await(StackLease lease, int position) {
      waiters.add(new Waiter(lease, position));
      lease.waiting++;
    }

    void forget(StackLease lease) {
      waiters.removeIf(waiter -> waiter.lease() == lease);
    }

    List<Waiter> waiters() {
      return waiters;
    }
  }
}
