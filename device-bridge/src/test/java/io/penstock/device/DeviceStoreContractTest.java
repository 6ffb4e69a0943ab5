package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.device.sim.CopyFault;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.testkit.BlockStoreContract;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The contract of a store, with the copies on a device's thread.
final class DeviceStoreContractTest extends BlockStoreContract {
  private final AtomicReference<@Nullable CopyFault> fault = new AtomicReference<>();
  private final Scheduler thread = Schedulers.newSingle("device-contract", true);
  private final Device device =
      new SimulatedDevice(SimulatedDeviceOptions.defaults(1 << 20), thread, (number, batch) -> fault.getAndSet(null));

  @Override
  protected BlockStore openStore(int capacityBlocks) {
    return requireNonNull(DeviceStore.open(device, "hbm", space, capacityBlocks).block(PATIENCE));
  }

  @Override
  protected @Nullable BlockStore reopenStore(BlockStore closed) {
    return null;
  }

  @Override
  protected List<StoredBlock> putDamaged(BlockStore store, List<Block> blocks, int index, long offset) {
    fault.set(new CopyFault.Corrupt(index, offset));
    return requireNonNull(store.put(blocks).block(PATIENCE));
  }

  @Override
  protected long storedBlocks(BlockStore closed) {
    return ((DeviceStore) closed).usedBlocks();
  }

  @AfterEach
  void closeDevice() {
    device.close().block(PATIENCE);
    thread.dispose();
  }
}
