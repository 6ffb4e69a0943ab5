package io.penstock.wire.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.SlabArena.ChunkSource;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Slots of memory that other processes of this host can map: bytes of segments that lie in other memory are copied
/// there for their receiver. Shared by all connections of a node, or of a connector; a slot is made when no other is
/// free for certain, and all are freed once the last connection has ended and the last slot is back. Safe from any
/// thread.
public final class StagingSlots {
  /// Maximum bytes of all slots.
  private static final long MOST_BYTES = 32L << 20;
  private static final Logger LOG = LoggerFactory.getLogger(StagingSlots.class);

  private final int slotBytes;
  @GuardedBy("this") private final Deque<MemorySegment> free = new ArrayDeque<>();
  /// Slots that a receiver may still read, the one that was given back first before the others.
  @GuardedBy("this") private final Deque<MemorySegment> unsure = new ArrayDeque<>();
  @GuardedBy("this") private @Nullable ChunkSource chunks;
  @GuardedBy("this") private long most;
  @GuardedBy("this") private int made;
  @GuardedBy("this") private int connections;

  /// @param slotBytes bytes of the largest slice
  public StagingSlots(int slotBytes) {
    this.slotBytes = slotBytes;
    this.most = Math.max(2, MOST_BYTES / slotBytes);
  }

  int slotBytes() {
    return slotBytes;
  }

  /// Slots that are lent.
  synchronized int taken() {
    return made - free.size() - unsure.size();
  }

  /// A connection begins.
  public synchronized void enter() {
    connections++;
  }

  /// A connection has ended.
  public synchronized void leave() {
    connections--;
    freeIfUnused();
  }

  /// A slot; null if all are lent.
  synchronized @Nullable MemorySegment take() {
    MemorySegment slot = free.poll();
    if (slot != null) {
      return slot;
    }
    return made < most ? make() : unsure.poll();
  }

  @GuardedBy("this") private @Nullable MemorySegment make() {
    try {
      ChunkSource source = chunks == null ? ChunkSource.shared("staging") : chunks;
      chunks = source;
      MemorySegment slot = source.chunk(slotBytes);
      made++;
      return slot;
    } catch (OutOfMemoryError e) {
      LOG.warn("bytes of segments have {} staging slots of {} bytes, and no memory for another", made, slotBytes, e);
      most = made;
      return null;
    }
  }

  /// Takes a slot back.
  ///
  /// @param landed whether its receiver is known to read it no more; else it is lent again as late as possible
  synchronized void giveBack(MemorySegment slot, boolean landed) {
    if (landed) {
      free.addFirst(slot); // it is in the cache
    } else {
      unsure.addLast(slot);
    }
    freeIfUnused();
  }

  @GuardedBy("this") private void freeIfUnused() {
    if (connections == 0 && chunks != null && taken() == 0) {
      free.clear();
      unsure.clear();
      made = 0;
      chunks.close();
      chunks = null;
    }
  }
}
