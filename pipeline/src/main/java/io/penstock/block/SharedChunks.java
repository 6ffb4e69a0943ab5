package io.penstock.block;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.system.SharedRegion;
import io.penstock.system.SystemCallException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/// Chunks that other processes of this host can map, cut from regions one behind the other. The pages of a chunk are
/// made before it is lent, large ones where the system has them: a missing page is a refusal then, and would be the end
/// of the process later.
final class SharedChunks implements SlabArena.ChunkSource {
  /// Length of a region, which has pages only where chunks were cut.
  private static final long REGION_BYTES = 16L << 30;

  private final String name;
  /// The region that chunks are cut from now is the first.
  @GuardedBy("this") private final Deque<SharedRegion> regions = new ArrayDeque<>();
  @GuardedBy("this") private long used;

  /// Makes its first region at once, because a peer may ask for it before the node has blocks.
  SharedChunks(String name) throws SystemCallException {
    this.name = name;
    regions.push(SharedRegion.create(SharedRegion.Kind.BLOCKS, name, REGION_BYTES));
  }

  @Override
  public synchronized MemorySegment chunk(long bytes) {
    try {
      SharedRegion region = regions.peek();
      if (region == null || bytes > region.memory().byteSize() - used) {
        region = SharedRegion.create(SharedRegion.Kind.BLOCKS, name, Math.max(bytes, REGION_BYTES));
        regions.push(region);
        used = 0;
      }
      MemorySegment chunk = region.memory().asSlice(used, bytes);
      region.enlarge(chunk);
      SharedRegion.populate(chunk);
      used += Math.ceilDiv(bytes, SlabArena.ALIGNMENT_BYTES) * SlabArena.ALIGNMENT_BYTES;
      return chunk;
    } catch (SystemCallException e) {
      throw refused(e);
    }
  }

  private static OutOfMemoryError refused(SystemCallException reason) {
    OutOfMemoryError error = new OutOfMemoryError(reason.getMessage());
    error.initCause(reason);
    return error;
  }

  @Override
  public synchronized void close() {
    regions.forEach(SharedRegion::close);
    regions.clear();
  }
}
