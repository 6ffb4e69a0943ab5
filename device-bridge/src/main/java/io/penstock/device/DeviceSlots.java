package io.penstock.device;

import io.penstock.block.Block;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.Permits;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Device memory cut into equal slots of one block each: claim and free are O(1), nothing fragments. As `SlabArena`
/// does for host memory, but allocated at once, and outside the host. Safe from any thread.
final class DeviceSlots {
  /// Slots start at a multiple of this many bytes, as an Ascend allocation does.
  private static final int ALIGNMENT_BYTES = 512;

  private final BlockLayout layout;
  private final Permits permits;
  /// Owns the memory.
  private final BlockScope memory;
  private final DeviceSlot[] slots;

  /// Guarded by `this`: indexes of free slots, as a stack.
  private final int[] free;
  private int freeCount;
  private boolean closed;

  private DeviceSlots(String name, BlockLayout layout, int count, int maxWaiters, DeviceMemory memory,
      BlockScope owner) {
    this.layout = layout;
    this.permits = new Permits(name, count, maxWaiters);
    this.memory = owner;
    this.slots = new DeviceSlot[count];
    this.free = new int[count];
    for (int i = count - 1; i >= 0; i--) { // the lowest address on top of the stack
      slots[i] = new DeviceSlot(this, i, memory.address() + i * stride(layout));
      free[freeCount++] = i;
    }
  }

  /// Allocates `count` slots; a cancel before they are there gives the memory back.
  static Mono<DeviceSlots> allocate(Device device, String name, BlockLayout layout, int count, int maxWaiters) {
    return Mono.defer(() -> {
      BlockScope owner = new BlockScope();
      return Handover.orBack(device.allocate(count * stride(layout), owner)
          .map(memory -> new DeviceSlots(name, layout, count, maxWaiters, memory, owner)), owner::close,
          DeviceSlots::close);
    });
  }

  private static long stride(BlockLayout layout) {
    return Math.ceilDiv((long) layout.blockBytes(), ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
  }

  /// A place for every block or for none: null means that there is no room now, or that others wait.
  ///
  /// @throws DeviceClosedException after [#close()]
  @Nullable List<DeviceBlock> tryClaim(List<Block> blocks) {
    return permits.tryAcquire(blocks.size()) ? lend(blocks) : null;
  }

  /// A place for every block, all at once, as soon as there is room and those who came before were served.
  Permits.Ticket claim(List<Block> blocks, Consumer<List<DeviceBlock>> granted, Consumer<? super Throwable> failed) {
    return permits.acquire(blocks.size(), () -> lend(blocks, granted, failed), failed::accept);
  }

  private void lend(List<Block> blocks, Consumer<List<DeviceBlock>> granted, Consumer<? super Throwable> failed) {
    List<DeviceBlock> places;
    try {
      places = lend(blocks);
    } catch (RuntimeException e) {
      failed.accept(e);
      return;
    }
    granted.accept(places);
  }

  /// Places for `blocks`, whose permits were taken; gives them back if it throws.
  private List<DeviceBlock> lend(List<Block> blocks) {
    List<int[]> checksums = new ArrayList<>(blocks.size());
    try {
      blocks.forEach(block -> checksums.add(checksums(block)));
    } catch (RuntimeException e) { // a block of another layout
      permits.release(blocks.size());
      throw e;
    }
    List<DeviceBlock> places = new ArrayList<>(blocks.size());
    synchronized (this) {
      for (int i = 0; i < checksums.size(); i++) {
        DeviceSlot slot = slots[free[--freeCount]];
        slot.lend();
        places.add(new DeviceBlock(blocks.get(i).key(), layout, slot, checksums.get(i)));
      }
    }
    return places;
  }

  private int[] checksums(Block block) {
    int[] checksums = new int[layout.granules()];
    for (int i = 0; i < checksums.length; i++) {
      checksums[i] = block.checksum(i);
    }
    return checksums;
  }

  void takeBack(int index) {
    synchronized (this) {
      free[freeCount++] = index;
    }
    permits.release(1);
    freeIfIdle();
  }

  int count() {
    return slots.length;
  }

  long claimed() {
    return permits.inUse();
  }

  BlockLayout layout() {
    return layout;
  }

  /// Gives the memory back, now if nothing is lent, else when the last slot comes back. Whoever waits for slots, and
  /// whoever comes later, hears [DeviceClosedException].
  void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    permits.close(() -> new DeviceClosedException(permits.name()));
    freeIfIdle();
  }

  private void freeIfIdle() {
    synchronized (this) {
      if (!closed || freeCount < free.length) {
        return;
      }
    }
    memory.close();
  }
}
