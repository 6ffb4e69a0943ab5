package io.penstock.device.ascend;

import io.penstock.device.CopyBatch;
import io.penstock.device.memory.StagingBuffer;
import io.penstock.device.memory.StagingPool;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// The host's side of the copies of one call. Where the device does not know an element's host memory, a place in a
/// staging buffer stands for it: it receives the bytes before a copy to the device, and returns them after a copy from
/// it.
///
/// An element that is larger than a buffer, and one that finds no free buffer, is copied directly. For the device's
/// thread.
final class CopyStaging {
  /// [#place] found no room in addition to the elements of this call.
  static final long FULL = 0;

  @SuppressWarnings("restricted") // the caller guarantees the addresses of elements
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private final StagingPool pool;
  private final MemoryPlaces places;
  private final CopyStream stream;
  private final List<StagingBuffer> lent = new ArrayList<>();
  /// Bytes of the last buffer that are taken.
  private long used;
  private final long[] hosts = new long[CopyBatch.MAX_ELEMENTS];

  /// @param stream while it is stuck, copies that have failed may still use the buffers
  CopyStaging(StagingPool pool, MemoryPlaces places, CopyStream stream) {
    this.pool = pool;
    this.places = places;
    this.stream = stream;
  }

  /// The host address of element `index` of the call: its own memory or a staging buffer.
  ///
  /// @param host its memory
  /// @param isUp whether it is copied to the device
  /// @return an address, or [#FULL]
  long place(int index, long host, long bytes, boolean isUp) {
    hosts[index] = host;
    if (stream.isStuck() || bytes > pool.bufferBytes() || places.isKnown(host, bytes)) {
      return host;
    }
    if (lent.isEmpty() || used + bytes > pool.bufferBytes()) {
      StagingBuffer more = pool.tryAcquire();
      if (more == null) {
        return lent.isEmpty() ? host : FULL;
      }
      lent.add(more);
      used = 0;
    }
    long place = lent.getLast().segment().address() + used;
    used += bytes;
    if (isUp) {
      MemorySegment.copy(ALL, host, ALL, place, bytes);
    }
    return place;
  }

  /// Element `index` was copied from the device to `place`.
  void arrived(int index, long place, long bytes) {
    if (place != hosts[index]) {
      MemorySegment.copy(ALL, place, ALL, hosts[index], bytes);
    }
  }

  /// Ends the call. Buffers of copies that may still be made are given back later.
  void giveBack() {
    if (stream.isStuck()) {
      return;
    }
    lent.forEach(StagingBuffer::close);
    lent.clear();
  }
}
