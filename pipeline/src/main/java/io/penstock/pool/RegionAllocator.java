package io.penstock.pool;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.Comparator;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Divides memory into regions of any length: the smallest free region that is long enough, the one with the lowest
/// offset of several, gives its first bytes. Neighbours that are free become one region.
///
/// This is best fit by address order with immediate coalescing, as in Knuth, "The Art of Computer Programming", volume
/// 1, section 2.5. It departs from the book in its tables: they lie beside the memory, in trees, so there are no
/// boundary tags that a device or a peer could overwrite, and no search walks a list.
///
/// The memory consists of chunks, and no region leaves its chunk. Offsets and lengths are multiples of
/// [#ALIGNMENT_BYTES]. Every operation is O(log n) in the number of free regions. Owns no memory. Not thread-safe.
final class RegionAllocator {
  /// A page of the system: the alignment of direct I/O and of memory advice.
  static final int ALIGNMENT_BYTES = 4096;

  /// Memory from `offset` on.
  record Region(long offset, long bytes) {
    long end() {
      return offset + bytes;
    }
  }

  private final long chunkBytes;
  private final long totalBytes;
  private final TreeMap<Long, Region> byOffset = new TreeMap<>();
  private final TreeSet<Region> byLength =
      new TreeSet<>(Comparator.comparingLong(Region::bytes).thenComparingLong(Region::offset));
  private final TreeMap<Long, Region> lent = new TreeMap<>();
  private long freeBytes;

  /// @param totalBytes of all chunks; the last one may be shorter
  RegionAllocator(long totalBytes, long chunkBytes) {
    if (totalBytes < ALIGNMENT_BYTES) {
      throw new IllegalArgumentException("totalBytes must be >= " + ALIGNMENT_BYTES + " (was " + totalBytes + ")");
    }
    this.totalBytes = totalBytes / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    this.chunkBytes = requireAligned("chunkBytes", chunkBytes);
    long offset = 0;
    while (offset < this.totalBytes) {
      Region chunk = new Region(offset, Math.min(chunkBytes, this.totalBytes - offset));
      addFree(chunk);
      offset = chunk.end();
    }
  }

  /// A region of at least `bytes`, rounded up to the alignment; null if no free region is as long.
  @Nullable Region allocate(long bytes) {
    if (Checks.positive("bytes", bytes) > largestFree()) { // also before a length near the largest long is rounded up
      return null;
    }
    long wanted = aligned(bytes);
    Region found = requireNonNull(byLength.ceiling(new Region(0, wanted)));
    removeFree(found);
    Region taken = new Region(found.offset(), wanted);
    if (found.bytes() > wanted) {
      addFree(new Region(taken.end(), found.bytes() - wanted));
    }
    lent.put(taken.offset(), taken);
    return taken;
  }

  /// Gives `region` back.
  ///
  /// @return the free region that it is part of now
  /// @throws IllegalStateException if it is not lent
  Region free(Region region) {
    if (!lent.remove(region.offset(), region)) {
      throw new IllegalStateException("region must be lent (was free, " + region + ")");
    }
    Region merged = around(region);
    byOffset.subMap(merged.offset(), merged.end()).values().stream().toList().forEach(this::removeFree);
    addFree(merged);
    return merged;
  }

  /// `region` with its free neighbours: the region that it will be part of when it is free.
  Region around(Region region) {
    var before = byOffset.lowerEntry(region.offset());
    Region after = byOffset.get(region.end());
    boolean joinsBefore = before != null && before.getValue().end() == region.offset() && !beginsChunk(region.offset());
    long start = joinsBefore ? requireNonNull(before).getKey() : region.offset();
    long end = after != null && !beginsChunk(region.end()) ? after.end() : region.end();
    return new Region(start, end - start);
  }

  private boolean beginsChunk(long offset) {
    return offset % chunkBytes == 0;
  }

  private void addFree(Region region) {
    byOffset.put(region.offset(), region);
    byLength.add(region);
    freeBytes += region.bytes();
  }

  private void removeFree(Region region) {
    byOffset.remove(region.offset());
    byLength.remove(region);
    freeBytes -= region.bytes();
  }

  /// Length of the longest free region; 0 if nothing is free.
  long largestFree() {
    return byLength.isEmpty() ? 0 : byLength.last().bytes();
  }

  long freeBytes() {
    return freeBytes;
  }

  /// Number of free regions.
  int freeRegions() {
    return byOffset.size();
  }

  long totalBytes() {
    return totalBytes;
  }

  static long aligned(long bytes) {
    return Math.ceilDiv(bytes, ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
  }

  private static long requireAligned(String name, long bytes) {
    if (Checks.positive(name, bytes) % ALIGNMENT_BYTES != 0) {
      throw new IllegalArgumentException(
          name + " must be a multiple of " + ALIGNMENT_BYTES + " (was " + bytes + ")");
    }
    return bytes;
  }
}
