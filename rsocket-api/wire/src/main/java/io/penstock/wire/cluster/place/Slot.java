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
  private final AtomicLong given = new AtomicLong();

  /// @param nearness to the writer
  /// @param heardMillis when its figures came first
  Slot(Member member, int nearness, long heardMillis) {
    this.member = member;
    this.nearness = nearness;
    this.heardMillis = heardMillis;
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
    return Math.max(1, member.figures().capacityBytes());
  }

  /// As it was told.
  long toldFree() {
    return member.figures().freeBytes();
  }

  boolean hasRoom(long bytes) {
    return toldFree() - given.get() >= bytes;
  }

  /// The part of the capacity that is in use, or will be.
  double taken() {
    return (member.figures().bytes() + (double) member.figures().inFlightBytes() + given.get()) / capacity();
  }

  /// How long its next victim was not used, in milliseconds: as it was told, and what has gone by, without what new
  /// blocks of this client have replaced. A member that is given all its capacity has none that is old.
  double idle(long millis) {
    long told = member.figures().idleMillis();
    return told == 0 ? 0 : (told + millis - heardMillis) * Math.max(0, 1 - given.get() / capacity());
  }
}
