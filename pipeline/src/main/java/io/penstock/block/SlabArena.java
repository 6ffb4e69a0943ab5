package io.penstock.block;

import static java.util.Objects.requireNonNull;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Host memory cut into equal slots of one block each: claim and free are O(1), nothing fragments.
///
/// Memory is allocated in chunks of at most 1 GiB as the high-water mark rises and is kept until [#close()]. Slots start at a
/// multiple of 64 bytes (a cache line). A fresh chunk is zeroed by the JDK: about 0.2 s a GiB, paid by the claim that needs it;
/// [#prepare(long)] pays beforehand.
public final class SlabArena implements BlockArena, AutoCloseable {
  /// Most bytes a chunk: `asByteBuffer()` ends below 2 GiB.
  public static final long MAX_CHUNK_BYTES = 1L << 30;
  /// Chunks are this long unless one block is longer: growing costs a claim some 10 ms, not a second.
  private static final long CHUNK_BYTES = 32L << 20;
  private static final int ALIGNMENT_BYTES = 64;

  private final BlockLayout layout;
  private final int strideBytes;
  private final int slotsPerChunk;
  private final Permits slots;
  private final Arena memory = Arena.ofShared();

  /// Guarded by `this`: every slot ever made, and the indexes of those that are free, as a stack.
  private final List<Slot> made = new ArrayList<>();
  private int[] free = new int[64];
  private int freeCount;
  private boolean closed;

  /// @param name named in errors
  /// @param layout of the blocks
  /// @param capacitySlots slots there can be; memory is taken as they are first used
  /// @param maxWaiters longest line of claims that wait
  public SlabArena(String name, BlockLayout layout, int capacitySlots, int maxWaiters) {
    this.layout = requireNonNull(layout, "layout");
    this.strideBytes = Math.ceilDiv(layout.blockBytes(), ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
    this.slotsPerChunk = (int) Math.min(capacitySlots, Math.max(1, CHUNK_BYTES / strideBytes));
    this.slots = new Permits("arena " + name, capacitySlots, maxWaiters);
  }

  @Override
  public BlockLayout layout() {
    return layout;
  }

  @Override
  public @Nullable List<BlockDraft> tryClaim(List<BlockKey> keys) {
    return slots.tryAcquire(keys.size()) ? lend(keys) : null;
  }

  @Override
  public Permits.Ticket claim(List<BlockKey> keys, Consumer<List<BlockDraft>> granted) {
    return slots.acquire(keys.size(), () -> granted.accept(lend(keys)));
  }

  @Override
  public long claimedSlots() {
    return slots.inUse();
  }

  @Override
  public long highWaterSlots() {
    return slots.peak();
  }

  @Override
  public long capacitySlots() {
    return slots.capacity();
  }

  /// Bytes of memory taken from the system so far.
  public synchronized long allocatedBytes() {
    return (long) made.size() * strideBytes;
  }

  /// Allocates memory until `wanted` slots, or all there can be, exist.
  public synchronized void prepare(long wanted) {
    while (made.size() < Math.min(wanted, slots.capacity())) {
      grow();
    }
  }

  /// Gives the memory back, now if nothing is lent, else when the last slot comes back. Later claims fail.
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    freeMemoryIfIdle();
  }

  void takeBack(int index) {
    synchronized (this) {
      if (freeCount == free.length) {
        free = java.util.Arrays.copyOf(free, 2 * freeCount);
      }
      free[freeCount++] = index;
    }
    slots.release(1);
    freeMemoryIfIdle();
  }

  private synchronized List<BlockDraft> lend(List<BlockKey> keys) {
    if (closed) {
      slots.release(keys.size());
      throw new IllegalStateException(slots.name() + " must be open (was closed)");
    }
    List<BlockDraft> drafts = new ArrayList<>(keys.size());
    for (BlockKey key : keys) {
      if (freeCount == 0) {
        grow();
      }
      drafts.add(new BlockDraft(key, layout, made.get(free[--freeCount])));
    }
    return drafts;
  }

  private void grow() {
    int count = (int) Math.min(slotsPerChunk, slots.capacity() - made.size());
    var chunk = memory.allocate((long) count * strideBytes, ALIGNMENT_BYTES);
    if (free.length < freeCount + count) {
      free = java.util.Arrays.copyOf(free, Math.max(2 * free.length, freeCount + count));
    }
    for (int i = count - 1; i >= 0; i--) { // the lowest address on top of the stack
      free[freeCount++] = made.size() + i;
    }
    for (int i = 0; i < count; i++) {
      made.add(new Slot(this, made.size(), chunk.asSlice((long) i * strideBytes, layout.blockBytes())));
    }
  }

  private void freeMemoryIfIdle() {
    synchronized (this) {
      if (!closed || freeCount < made.size() || !memory.scope().isAlive()) {
        return;
      }
      memory.close();
    }
  }
}
