package io.penstock.storage.engine;

import io.penstock.system.HoldCount;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// The bytes of one segment, and how many need them: its engine until it is deleted, and everybody who reads.
abstract class StoredSegment {
  private final int number;
  private final HoldCount holds = new HoldCount();
  private volatile long end;
  private volatile boolean deleted;
  private volatile boolean abandoned;

  /// @param end one past the last byte that may be read
  StoredSegment(int number, long end) {
    this.number = number;
    this.end = end;
    holds.first();
  }

  final int number() {
    return number;
  }

  /// One past the last byte that may be read.
  long end() {
    return end;
  }

  final void end(long newEnd) {
    end = newEnd;
  }

  final boolean isDeleted() {
    return deleted;
  }

  /// Its file was taken away: nothing in it needs to be forced any more.
  final void abandon() {
    abandoned = true;
  }

  final boolean isAbandoned() {
    return abandoned;
  }

  /// Deleted, and not read any more.
  final boolean isGone() {
    return deleted && holds.isZero();
  }

  /// Adds a hold unless the bytes are gone.
  final boolean retain() {
    return holds.retain();
  }

  final void release() {
    if (holds.release()) {
      drop();
    }
  }

  /// Takes the name off the medium; the bytes go with the last hold.
  final void delete() throws IOException {
    unlink();
    deleted = true;
    release();
  }

  /// Fills `parts`, one after the other, with the bytes from `offset` on, all of which lie before [#end].
  abstract void read(long offset, MemorySegment[] parts) throws IOException;

  /// The same, and what was not in memory before does not stay there.
  void readOnce(long offset, MemorySegment[] parts) throws IOException {
    read(offset, parts);
  }

  /// Forces what was appended to the medium.
  abstract void force() throws IOException;

  abstract void unlink() throws IOException;

  /// The last hold is gone.
  abstract void drop();
}
