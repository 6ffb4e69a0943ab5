package io.penstock.storage.engine;

import io.penstock.system.HoldCount;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// The bytes of one segment, with a count of its users: the engine until the segment is deleted, and each reader.
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

  /// The file lost its name: nothing in it needs to be forced any more.
  final void abandon() {
    abandoned = true;
  }

  final boolean isAbandoned() {
    return abandoned;
  }

  /// Whether it is deleted and has no reader.
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

  /// Deletes the name; the bytes go with the last hold.
  final void delete() throws IOException {
    unlink();
    deleted = true;
    release();
  }

  /// Fills `parts` in turn with the bytes from `offset` on, all before [#end].
  abstract void read(long offset, MemorySegment[] parts) throws IOException;

  /// The same; bytes that were not in memory do not stay there.
  void readOnce(long offset, MemorySegment[] parts) throws IOException {
    read(offset, parts);
  }

  /// Forces all appended bytes.
  abstract void force() throws IOException;

  abstract void unlink() throws IOException;

  /// The last hold is gone.
  abstract void drop();
}
