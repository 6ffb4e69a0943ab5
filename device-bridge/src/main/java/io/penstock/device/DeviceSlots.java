package io.penstock.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Block;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.budget.Permits;
import io.penstock.device.DeviceFailure.DeviceClosedException;
import io.penstock.operator.Failures;
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

  /// Indexes of free slots, as a stack.
  @GuardedBy("this") private final int[] free;
  @GuardedBy("this") private int freeCount;
  @GuardedBy("this") private boolean closed;

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
      return OwnershipTransfer.orRelease(device.allocate(count * stride(layout), owner)
          .map(memory -> new DeviceSlots(name, layout, count, maxWaiters, memory, owner)), owner::close,
          DeviceSlots::close);
    });
  }

  private static long stride(BlockLayout layout) {
    return Math.ceilDiv((long) layout.blockBytes(), ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
  }

  /// Claims a slot for every block, or returns null where slots are short or others wait.
  ///
  /// @throws DeviceClosedException after [#close()]
  @Nullable List<DeviceBlock> tryClaim(List<Block> blocks) {
    return permits.tryAcquire(blocks.size()) ? lend(blocks) : null;
  }

  /// Claims a slot for every block, all at once, after all earlier claims.
  Permits.Ticket claim(List<Block> blocks, Consumer<List<DeviceBlock>> granted, Consumer<? super Throwable> failed) {
    return permits.acquire(blocks.size(), () -> lend(blocks, granted, failed), failed::accept);
  }

  private void lend(List<Block> blocks, Consumer<List<DeviceBlock>> granted, Consumer<? super Throwable> failed) {
    List<DeviceBlock> places;
    try {
      places = lend(blocks);
    } catch (RuntimeException | Error e) {
      failed.accept(Failures.passable(e));
      return;
    }
    granted.accept(places);
  }

  /// Lends slots to `blocks`, whose permits were taken; releases the permits if it throws.
  private List<DeviceBlock> lend(List<Block> blocks) {
    List<int[]> checksums = new ArrayList<>(blocks.size());
    try {
      blocks.forEach(block -> checksums.add(checksums(block)));
    } catch (RuntimeException | Error e) { // a block of another layout
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

  /// Frees the memory, now if no slot is lent, else with the last slot. Waiting and later claims fail with
  /// [DeviceClosedException].
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
