package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.spi.BlockStore;
import io.penstock.block.Checks;

/// One level of a [TierStack], and how many blocks the ledger may put there.
public sealed interface Level {
  /// Used in figures, errors and meters; unique in its stack.
  String name();

  Medium medium();

  /// Most blocks that the ledger puts here; [io.penstock.pool.Ledger#UNBOUNDED] for any number.
  long capacityBlocks();

  /// Host memory, which the stack has of its own.
  record Host(String name, long capacityBlocks) implements Level {
    public Host {
      requireNonNull(name, "name");
      Checks.positive("capacityBlocks", capacityBlocks);
    }

    @Override
    public Medium medium() {
      return Medium.HOST;
    }
  }

  /// A store, which the stack closes with itself.
  record Stored(BlockStore store, long capacityBlocks) implements Level {
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
