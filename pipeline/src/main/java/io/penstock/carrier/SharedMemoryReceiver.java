package io.penstock.carrier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.system.HoldCount;
import io.penstock.system.PeerRegion;
import io.penstock.system.SharedRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Reads blocks from the memory of another process of this host, which it maps when the first reference to it comes.
/// Bytes are copied once, into a draft, and compared with their checksums there. The peer cannot shrink the memory, and
/// no reference leads out of it.
public final class SharedMemoryReceiver implements SliceReceiver, AutoCloseable {
  private final long process;
  @GuardedBy("this") private final Map<ByteBuffer, PeerRegion> regions = new HashMap<>();
  @GuardedBy("this") private boolean closed;
  /// Holds of this object and of reads of leased blocks: the last one unmaps.
  private final HoldCount holds = new HoldCount();
  private volatile boolean unreadable;

  /// @param process number of the sender's process
  public SharedMemoryReceiver(long process) {
    this.process = process;
    holds.first();
  }

  @Override
  public SliceBytes arrived(IncomingFrame frame, int blocks, int bytesEach) {
    SliceReferences references = SliceReferences.decode(frame, blocks);
    MemorySegment[] memory = new MemorySegment[references.descriptors().length];
    for (int i = 0; i < memory.length; i++) {
      memory[i] = region(references.descriptors()[i], references.tokens()[i]).memory();
    }
    for (int i = 0; i < blocks; i++) {
      requireInside(memory[references.region()[i]], references.offset()[i], bytesEach);
    }
    return (i, to) -> copy(memory[references.region()[i]], references.offset()[i], to);
  }

  /// One run of bytes, in any place.
  @FunctionalInterface
  public interface Run {
    /// Copies the bytes from `offset` on into all of `to`.
    ///
    /// @throws PeerMemoryException if memory of the sender has gone
    void read(long offset, MemorySegment to);
  }

  /// The run of `bytes` that `frame` refers to.
  ///
  /// @throws UnexpectedSliceException if `frame` breaks a rule
  /// @throws PeerMemoryException if memory of the sender cannot be read
  public Run run(IncomingFrame frame, int bytes) {
    SliceReferences references = SliceReferences.decode(frame, 1);
    int named = references.region()[0];
    long begin = references.offset()[0];
    MemorySegment memory = region(references.descriptors()[named], references.tokens()[named]).memory();
    requireInside(memory, begin, bytes);
    return (offset, to) -> copy(memory, begin + offset, to);
  }

  private static void requireInside(MemorySegment memory, long offset, int bytes) {
    long most = memory.byteSize() - bytes;
    if (offset < SharedRegion.HEADER_BYTES || offset > most) {
      throw new UnexpectedSliceException("offset of a block", "in [" + SharedRegion.HEADER_BYTES + ", " + most + "]",
          offset);
    }
  }

  private void copy(MemorySegment from, long offset, MemorySegment to) {
    try {
      MemorySegment.copy(from, offset, to, 0, to.byteSize());
    } catch (InternalError e) { // the system has no memory for a page that the peer never wrote
      unreadable = true;
      throw new PeerMemoryException("memory of the peer cannot be read (at " + offset + ")", e);
    } catch (IllegalStateException e) {
      if (from.scope().isAlive()) { // the reader's own memory has gone
        throw e;
      }
      throw new PeerMemoryException("the connection to the peer must be open (was closed)", e);
    }
  }

  private synchronized PeerRegion region(int descriptor, byte[] token) {
    if (closed) {
      throw new PeerMemoryException("the connection to the peer must be open (was closed)", null);
    }
    PeerRegion known = regions.get(ByteBuffer.wrap(token));
    return known == null ? map(descriptor, token) : known;
  }

  @GuardedBy("this") private PeerRegion map(int descriptor, byte[] token) {
    if (regions.size() == SliceReferences.MOST_REGIONS) {
      throw new UnexpectedSliceException("regions of a connection", "<= " + SliceReferences.MOST_REGIONS,
          regions.size() + 1);
    }
    PeerRegion region = open(descriptor);
    if (!region.hasToken(token)) {
      region.close();
      throw new UnexpectedSliceException("token of a region", "that of the region", "another");
    }
    regions.put(ByteBuffer.wrap(token), region);
    return region;
  }

  private PeerRegion open(int descriptor) {
    try {
      return PeerRegion.map(process, descriptor, SharedRegion.Kind.BLOCKS);
    } catch (IOException e) {
      unreadable = true;
      throw new PeerMemoryException(String.valueOf(e.getMessage()), e);
    }
  }

  /// Number of the sender's process.
  public long process() {
    return process;
  }

  /// The memory of one block of the peer, which may change or go.
  MemorySegment block(int descriptor, byte[] token, long offset, int bytes) {
    MemorySegment region = region(descriptor, token).memory();
    requireInside(region, offset, bytes);
    return region.asSlice(offset, bytes);
  }

  /// Whether memory of the peer was unreadable once. Later requests should get frames instead.
  public boolean isUnreadable() {
    return unreadable;
  }

  /// Regions that are mapped now.
  public synchronized int mappedRegions() {
    return regions.size();
  }

  /// Keeps the mappings for one read; false if this is closed.
  boolean retain() {
    return holds.retain();
  }

  void release() {
    if (holds.release()) {
      unmap();
    }
  }

  /// Unmaps all; a stream that reads at that moment fails, a read of a leased block ends first. Idempotent.
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    release();
  }

  private void unmap() {
    List<PeerRegion> mapped;
    synchronized (this) {
      mapped = List.copyOf(regions.values());
      regions.clear();
    }
    mapped.forEach(PeerRegion::close);
  }
}
