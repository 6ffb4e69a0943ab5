package io.penstock.stack.hold;

import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;

/// A read lease: the blocks that it holds until its end, and the reads that keep it alive. Used in decisions only,
/// except [#isOver].
public final class HeldLease {
  private final long id;
  private final HoldParty party;
  private final Duration life;
  private final boolean survives;
  private final Set<Resident> blocks = new LinkedHashSet<>();
  private long end;
  private int reads;
  private volatile boolean over;

  /// @param id 0 for the lease of a group
  HeldLease(long id, HoldParty party, Duration life, boolean survives) {
    this.id = id;
    this.party = party;
    this.life = life;
    this.survives = survives;
  }

  public long id() {
    return id;
  }

  HoldParty party() {
    return party;
  }

  public Duration life() {
    return life;
  }

  boolean survives() {
    return survives;
  }

  /// Whether it has ended: then its blocks may have been evicted.
  public boolean isOver() {
    return over;
  }

  /// Holds `block`; false if it does already.
  boolean add(Resident block) {
    if (!blocks.add(block)) {
      return false;
    }
    ResidentHold.addTo(block).lease();
    return true;
  }

  public boolean holds(Resident block) {
    return blocks.contains(block);
  }

  /// Holds `fresh` instead of `old`, whose hold has moved there.
  void replace(Resident old, Resident fresh) {
    if (blocks.remove(old)) {
      blocks.add(fresh);
    }
  }

  /// `block` left the ledger: forgets it, as a lease that is renewed has no other end.
  void leave(Resident block) {
    if (blocks.remove(block)) {
      party.hold(-1);
    }
  }

  int size() {
    return blocks.size();
  }

  /// Time at which it ends unless it is renewed, by the stack's clock.
  long end() {
    return end;
  }

  /// Extends it to its whole life after `now`.
  void renew(long now) {
    end = now + life.toNanos();
  }

  void startRead() {
    reads++;
  }

  void endRead() {
    reads--;
  }

  boolean isRead() {
    return reads > 0;
  }

  /// Ends it: its blocks may be evicted.
  void end(DeferredActions after) {
    over = true;
    for (Resident block : blocks) {
      ResidentHold held = ResidentHold.of(block);
      if (held != null) { // else the block was removed
        held.unlease();
        block.holdEnded(after);
      }
    }
    blocks.clear();
  }
}
