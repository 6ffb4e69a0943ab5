package io.penstock.carrier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.Owned;
import io.penstock.check.Checksum;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.function.Function;
import java.util.function.Supplier;

/// A block in the memory of a node, leased to this process. Safe from any thread.
///
/// The node can end the lease: each read checks the lease before and after. So a read fails if the memory may have held
/// other bytes during it.
public final class LeasedMemory extends Owned {
  private static final String BOUNDARY = "shared memory";

  private final ClientRing ring;
  private final int slot;
  private final int number;
  private final BlockKey key;
  private final BlockLayout layout;
  private final MemorySegment memory;
  private final int[] checksums;
  @GuardedBy("this") private final BitSet verified = new BitSet();
  private volatile boolean damaged;

  /// @param number of the lease
  LeasedMemory(ClientRing ring, int slot, int number, BlockKey key, BlockLayout layout, MemorySegment memory,
      int[] checksums) {
    this.ring = ring;
    this.slot = slot;
    this.number = number;
    this.key = key;
    this.layout = layout;
    this.memory = memory;
    this.checksums = checksums;
  }

  public BlockKey key() {
    return key;
  }

  public BlockLayout layout() {
    return layout;
  }

  /// Checksums that the node states, one a granule.
  public int[] checksums() {
    return checksums.clone();
  }

  /// Compares the granules of `range` that were not compared before with their checksums.
  ///
  /// @throws BlockCorruptException at the first difference
  /// @throws PeerMemoryException if the lease has ended
  public void verify(GranuleRange range) {
    range.requireInside(layout);
    for (int granule = range.first(); granule < range.end(); granule++) {
      if (!isVerified(granule)) {
        int at = layout.granuleOffset(granule);
        int bytes = layout.granuleBytes(granule);
        int actual = leased(() -> Checksum.of(memory.asSlice(at, bytes)));
        if (actual != checksums[granule]) {
          damaged = true;
          throw new BlockCorruptException(BOUNDARY, key, granule, checksums[granule], actual);
        }
        setVerified(granule);
      }
    }
  }

  private synchronized boolean isVerified(int granule) {
    return verified.get(granule);
  }

  private synchronized void setVerified(int granule) {
    verified.set(granule);
  }

  /// Lends the bytes of `range`, verified, to `reader` until it returns.
  ///
  /// @throws BlockCorruptException if a granule differs from its checksum
  /// @throws PeerMemoryException if the lease ended before `reader` returned: its result must not be used
  public <R> R read(GranuleRange range, Function<MemorySegment, R> reader) {
    verify(GranuleRange.whole(range.first(), range.count()));
    MemorySegment part = memory.asSlice(range.offset(layout), range.bytes(layout));
    return leased(() -> reader.apply(part));
  }

  /// Copies the whole block to the beginning of `to`, which the caller verifies.
  ///
  /// @throws PeerMemoryException if the lease ended during the copy
  public void copy(MemorySegment to) {
    leased(() -> to.copyFrom(memory));
  }

  /// Marks a copy as different from its checksums: the release reports it to the node.
  public void differs() {
    damaged = true;
  }

  private <R> R leased(Supplier<R> read) {
    requireLeased();
    if (!ring.retainMemory()) {
      throw over();
    }
    try {
      R answer = read.get();
      VarHandle.loadLoadFence(); // the bytes before the lease
      requireLeased();
      return answer;
    } catch (InternalError e) { // the system has no memory for a page that the node never wrote
      throw new PeerMemoryException("memory of the node cannot be read (" + key + ")", e);
    } finally {
      ring.releaseMemory();
    }
  }

  private void requireLeased() {
    if (isClosed()) {
      throw new IllegalStateException("block must be open (was closed, " + key + ")");
    }
    if (!ring.isLeased(slot, number)) {
      throw over();
    }
  }

  private PeerMemoryException over() {
    return new PeerMemoryException("lease of a block must not have ended (was over, " + key + ")", null);
  }

  @Override
  protected void free() {
    if (damaged) {
      ring.releaseDamaged(slot);
    } else {
      ring.release(slot);
    }
  }
}
