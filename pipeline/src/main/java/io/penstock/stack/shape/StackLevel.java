package io.penstock.stack.shape;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.pool.share.SharedMemory;
import io.penstock.tier.Medium;
import io.penstock.tier.spi.BlockStore;
import org.jspecify.annotations.Nullable;

/// One level of a `TierStack`, and how many blocks the ledger may put there.
public sealed interface StackLevel {
  /// Used in figures, errors and meters; unique in its stack.
  String name();

  Medium medium();

  /// Maximum number of blocks that the ledger puts here; `Long.MAX_VALUE` for any number.
  long capacityBlocks();

  /// Host memory, which the stack allocates.
  ///
  /// @param capacityBlocks maximum number of blocks; with a share, those that the level has room for without it
  /// @param share source of room for more blocks; null for no more
  record Host(String name, long capacityBlocks, SharedMemory.@Nullable Share share) implements StackLevel {
    public Host {
      requireNonNull(name, "name");
      Checks.positive("capacityBlocks", capacityBlocks);
    }

    public Host(String name, long capacityBlocks) {
      this(name, capacityBlocks, null);
    }

    /// Maximum number of blocks that the level may ever have.
    public long mostBlocks(int blockBytes) {
      long more = share == null ? 0 : share.mostBytes() / blockBytes;
      return more > Long.MAX_VALUE - capacityBlocks ? Long.MAX_VALUE : capacityBlocks + more;
    }

    /// Blocks that the level has, or gets when it needs them: with a share, those that no other space takes from it.
    public long presentBlocks(long blockBytes) {
      return share == null
          ? capacityBlocks
          : capacityBlocks + Math.max(share.heldBytes(), Math.min(share.guaranteedBytes(), share.mostBytes()))
              / blockBytes;
    }

    @Override
    public Medium medium() {
      return Medium.HOST;
    }
  }

  /// A store, which the stack owns and closes.
  record Stored(BlockStore store, long capacityBlocks) implements StackLevel {
    public Stored {
      Checks.positive("capacityBlocks", capacityBlocks);
      if (capacityBlocks > store.capacityBlocks()) {
        throw new IllegalArgumentException(
            "capacityBlocks must be <= the %d slots of %s (was %d)".formatted(store.capacityBlocks(),
                store.name(), capacityBlocks));
      }
    }

    @Override
    public String name() {
      return store.name();
    }

    @Override
    public Medium medium() {
      return store.medium();
    }
  }
}
