package io.penstock.testkit;

import io.penstock.block.Block;
import io.penstock.tier.Medium;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/// The store of the test kit keeps the contract that it stands in for.
final class MemoryStoreTest {
  private abstract static class Contract extends BlockStoreContract {
    abstract Executor executor();

    Medium medium() {
      return Medium.DEVICE;
    }

    @Override
    protected BlockStore openStore(int capacityBlocks) {
      return new MemoryStore("store", medium(), space, capacityBlocks, executor());
    }

    @Override
    protected @Nullable BlockStore reopenStore(BlockStore closed) {
      return null;
    }

    @Override
    protected List<StoredBlock> putDamaged(BlockStore store, List<Block> blocks, int index, long offset) {
      List<StoredBlock> stored = Objects.requireNonNull(store.put(blocks).block(PATIENCE));
      ((MemoryStore) store).corrupt(blocks.get(index).key(), offset);
      return stored;
    }

    @Override
    protected long storedBlocks(BlockStore closed) {
      return ((MemoryStore) closed).storedBlocks();
    }
  }

  @Nested
  final class AtOnce extends Contract {
    @Override
    Executor executor() {
      return Runnable::run;
    }
  }

  @Nested
  final class OnThreads extends Contract {
    private final ExecutorService threads =
        Executors.newFixedThreadPool(2, Thread.ofPlatform().daemon().name("store-", 0).factory());

    @Override
    Executor executor() {
      return threads;
    }

    @Override
    Medium medium() {
      return Medium.DISK;
    }

    @Override
    protected BlockStore reopenStore(BlockStore closed) {
      return ((MemoryStore) closed).reopened();
    }

    @AfterEach
    void stopThreads() {
      threads.shutdown();
    }
  }
}
