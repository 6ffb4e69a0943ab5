package io.penstock.wire.cluster.place;

import io.penstock.wire.cluster.Member;
import java.util.concurrent.atomic.AtomicLong;

/// A member that takes new blocks, with what this client has given it since the member told its figures. Safe from any
/// thread.
final class Slot {
  /// Time after which figures that are the same were told again.
  private static final long TOLD_AGAIN_MILLIS = 15_000;

  final Member member;
  final int nearness;
  private final long heardMillis;
  // As they were told, here for a draw that looks at nothing else
  private final long free;
  private final double used;
  private final double capacity;
  private final long idleMillis;
  private final AtomicLong given = new AtomicLong();

  /// @param nearness to the writer
  /// @param heardMillis when its figures came first
  Slot(Member member, int nearness, long heardMillis) {
    this.member = member;
    this.nearness = nearness;
    this.heardMillis = heardMillis;
    Member.Figures figures = member.figures();
    this.free = figures.freeBytes();
    this.used = figures.bytes() + (double) figures.inFlightBytes();
    this.capacity = Math.max(1, figures.capacityBytes());
    this.idleMillis = figures.idleMillis();
  }

  /// The same member in a newer list.
  Slot next(Member now, long millis) {
    boolean isSame = now.figures().equals(member.figures()) && millis - heardMillis < TOLD_AGAIN_MILLIS;
    Slot next = new Slot(now, nearness, isSame ? heardMillis : millis);
    if (isSame) {
      next.given.set(given.get());
    }
    return next;
  }

  void give(long bytes) {
    given.addAndGet(bytes);
  }

  double capacity() {
    return capacity;
  }

  /// As it was told.
  long toldFree() {
    return free;
  }

  boolean hasRoom(long bytes) {
    return free - given.get() >= bytes;
  }

  /// The part of the capacity that is in use, or will be.
  double taken() {
    return (used + given.get()) / capacity;
  }

  /// How long its next victim was not used, in milliseconds: as it was told, and what has gone by, without what new
  /// blocks of this client have replaced. A member that is given all its capacity has none that is old.
  double idle(long millis) {
    return idleMillis == 0
        ? 0
        : (idleMillis + millis - heardMillis) * Math.max(0, 1 - given.get() / capacity);
  }
}
