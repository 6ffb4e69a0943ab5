package io.penstock.stack;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.BlockTierContract;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.TierListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/// The contract of a tier, kept by stacks of every shape, with stores that answer at once and with stores on threads of
/// their own.
final class TierStackContractTest {
  private abstract static class StackContract extends BlockTierContract {
    private final List<MemoryStore> stores = new ArrayList<>();

    abstract List<StackLevel> levels(int capacityBlocks);

    Executor executor() {
      return Runnable::run;
    }

    StackOptions options(int capacityBlocks) {
      return StackOptions.defaults("stack").withIngressBlocks(capacityBlocks + RESERVE_BLOCKS).withTransferBlocks(16)
          .withPromotionBlocks(2)
          .withBounceBlocks(1).withBatchBlocks(3).withEventLogSize(EVENT_LOG_SIZE);
    }

    StackLevel store(String name, Medium medium, int capacityBlocks) {
      MemoryStore store =
          new MemoryStore(name, medium, space, medium == Medium.DISK ? Long.MAX_VALUE : capacityBlocks, executor());
      stores.add(store);
      return new StackLevel.Stored(store, capacityBlocks);
    }

    @Override
    protected BlockTier openTier(int capacityBlocks) {
      return new TierStack(space, levels(capacityBlocks), options(capacityBlocks), TierListener.noop());
    }

    @Override
    protected void corruptStored(BlockTier tier, BlockKey key) {
      stores.forEach(store -> store.corrupt(key, 70));
      try (Block host = ((TierStack) tier).hostCopy(key)) {
        if (host != null) {
          Blocks.corrupt(host, 70);
        }
      }
    }
  }

  @Nested
  final class OneDevice extends StackContract {
    @Override
    List<StackLevel> levels(int capacityBlocks) {
      return List.of(store("hbm", Medium.DEVICE, capacityBlocks));
    }
  }

  @Nested
  final class OneDiskWrittenThrough extends StackContract {
    @Override
    List<StackLevel> levels(int capacityBlocks) {
      return List.of(store("ssd", Medium.DISK, capacityBlocks));
    }

    @Override
    StackOptions options(int capacityBlocks) {
      return super.options(capacityBlocks).withMode(StackOptions.Mode.WRITE_THROUGH);
    }
  }

  @Nested
  class ThreeLevels extends StackContract {
    @Override
    List<StackLevel> levels(int capacityBlocks) {
      if (capacityBlocks < 3) {
        return List.of(store("hbm", Medium.DEVICE, capacityBlocks));
      }
      int third = capacityBlocks / 3;
      return List.of(store("hbm", Medium.DEVICE, third), new StackLevel.Host("dram", third),
          store("ssd", Medium.DISK, capacityBlocks - 2 * third));
    }
  }

  @Nested
  class HostOverDisk extends StackContract {
    @Override
    List<StackLevel> levels(int capacityBlocks) {
      int half = capacityBlocks / 2;
      return half == 0
          ? List.of(new StackLevel.Host("dram", capacityBlocks))
          : List.of(new StackLevel.Host("dram", half), store("ssd", Medium.DISK, capacityBlocks - half));
    }

    @Override
    StackOptions options(int capacityBlocks) {
      return super.options(capacityBlocks).withIngressBlocks(capacityBlocks / 2 + capacityBlocks % 2 + RESERVE_BLOCKS);
    }
  }

  @Nested
  class DeviceOverHost extends StackContract {
    @Override
    List<StackLevel> levels(int capacityBlocks) {
      int half = capacityBlocks / 2;
      return half == 0
          ? List.of(new StackLevel.Host("dram", capacityBlocks))
          : List.of(store("hbm", Medium.DEVICE, half), new StackLevel.Host("dram", capacityBlocks - half));
    }
  }

  @Nested
  final class ThreeLevelsWrittenThrough extends ThreeLevels {
    @Override
    List<StackLevel> levels(int capacityBlocks) {
      return capacityBlocks < 3
          ? List.of(store("ssd", Medium.DISK, capacityBlocks))
          : List.of(store("hbm", Medium.DEVICE, 1), new StackLevel.Host("dram", 2),
              store("ssd", Medium.DISK, capacityBlocks));
    }

    @Override
    StackOptions options(int capacityBlocks) {
      return super.options(capacityBlocks).withMode(StackOptions.Mode.WRITE_THROUGH);
    }
  }

  private static ExecutorService threads = Executors.newSingleThreadExecutor();

  @BeforeAll
  static void startThreads() {
    threads = Executors.newFixedThreadPool(2, Thread.ofPlatform().daemon().name("store-", 0).factory());
  }

  @AfterAll
  static void stopThreads() {
    threads.shutdownNow();
  }

  @Nested
  final class ThreeLevelsOnThreads extends ThreeLevels {
    @Override
    Executor executor() {
      return threads;
    }

    @Override
    protected boolean answersAtOnce() {
      return false;
    }
  }
}
