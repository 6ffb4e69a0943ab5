package io.penstock.device.ascend;

import io.penstock.device.CopyBatch;
import io.penstock.device.memory.StagingBuffer;
import io.penstock.device.memory.StagingPool;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// The host's side of the copies of one call: where an element's memory is none that the device knows, a place in a
/// staging buffer stands for it. Its bytes are there before a copy to the device, and go home after one from it.
///
/// An element that is larger than a buffer, and any while others have all the buffers, is copied as it is. For the
/// device's thread.
final class CopyStaging {
  /// [#place] found no room beside what this call has there already.
  static final long FULL = 0;

  @SuppressWarnings("restricted") // elements are addresses, which whoever asked for their copies vouches for
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private final StagingPool pool;
  private final MemoryPlaces places;
  private final CopyStream stream;
  private final List<StagingBuffer> lent = new ArrayList<>();
  /// Bytes of the last buffer that are taken.
  private long used;
  private final long[] homes = new long[CopyBatch.MAX_ELEMENTS];

  /// @param stream while it is stuck, copies that have failed may still use the buffers
  CopyStaging(StagingPool pool, MemoryPlaces places, CopyStream stream) {
    this.pool = pool;
    this.places = places;
    this.stream = stream;
  }

  /// Where element `index` of the call has its host's side.
  ///
  /// @param home its memory
  /// @param isUp whether it is copied to the device
  /// @return an address, or [#FULL]
  long place(int index, long home, long bytes, boolean isUp) {
    homes[index] = home;
    if (stream.isStuck() || bytes > pool.bufferBytes() || places.isKnown(home, bytes)) {
      return home;
    }
    if (lent.isEmpty() || used + bytes > pool.bufferBytes()) {
      StagingBuffer more = pool.tryAcquire();
      if (more == null) {
        return lent.isEmpty() ? home : FULL;
      }
      lent.add(more);
      used = 0;
    }
    long place = lent.getLast().segment().address() + used;
    used += bytes;
    if (isUp) {
      MemorySegment.copy(ALL, home, ALL, place, bytes);
    }
    return place;
  }

  /// Element `index` was copied from the device to `place`.
  void arrived(int index, long place, long bytes) {
    if (place != homes[index]) {
      MemorySegment.copy(ALL, place, ALL, homes[index], bytes);
    }
  }

  /// The call has ended; where its copies may still be made, their buffers stay until later.
  void giveBack() {
    if (stream.isStuck()) {
      return;
    }
    lent.forEach(StagingBuffer::close);
    lent.clear();
  }
}
