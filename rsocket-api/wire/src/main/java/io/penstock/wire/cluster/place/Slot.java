package io.penstock.wire.cluster.place;

import io.penstock.wire.cluster.Member;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;

/// A member that takes new blocks, with what this client has given it. Safe from any thread.
///
/// Figures are old when they come, so they cannot say whose turn it is: all clients would give to the same member until
/// it tells again. Each client deals its blocks out by its own count, and figures say only how large the part of a
/// member is. So the members fill equally fast at first, and blocks get equally old at all of them later.
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
  /// Bytes, since the figures were told.
  private final AtomicLong given = new AtomicLong();
  /// Parts of its capacity that it was given, ever.
  private final DoubleAdder turn;
  private volatile double share = 1;

  /// @param nearness to the writer
  /// @param heardMillis when its figures came first
  Slot(Member member, int nearness, long heardMillis) {
    this(member, nearness, heardMillis, new DoubleAdder());
  }

  private Slot(Member member, int nearness, long heardMillis, DoubleAdder turn) {
    this.turn = turn;
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
    Slot next = new Slot(now, nearness, isSame ? heardMillis : millis, turn);
    if (isSame) {
      next.given.set(given.get());
    }
    return next;
  }

  void give(long bytes) {
    given.addAndGet(bytes);
    turn.add(bytes / (capacity * share));
  }

  /// Its turn after it is given `bytes`: the member with the least is the next.
  double turn(long bytes) {
    return turn.sum() + bytes / (capacity * share);
  }

  /// A member that was given little for long, or is new, is not the next for ever.
  void turnFrom(double least) {
    turn.add(Math.max(0, least - turn.sum()));
  }

  /// @param part that it gets of new blocks, for its capacity; others get 1 on average
  void share(double part) {
    share = part;
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

  /// The part of the capacity that is in use, as it was told.
  double used() {
    return Math.min(1, used / capacity);
  }

  /// How long its next victim was not used, as it was told, in milliseconds; 0 if there is none.
  long toldIdle() {
    return idleMillis;
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
