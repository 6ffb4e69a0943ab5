package io.penstock.stack.hold;

/// What the read leases of one party hold together, over all its `TierHolds`. Used in decisions only.
public final class HoldParty {
  private final Object name;
  private int handles;
  private int leases;
  private long blocks;

  HoldParty(Object name) {
    this.name = name;
  }

  Object name() {
    return name;
  }

  void enter() {
    handles++;
  }

  void leave() {
    handles--;
  }

  /// Counts a lease, or its end.
  void lease(int change) {
    leases += change;
  }

  int leases() {
    return leases;
  }

  /// Counts blocks that its leases hold.
  void hold(int change) {
    blocks += change;
  }

  long blocks() {
    return blocks;
  }

  /// Whether nothing needs this object.
  boolean isGone() {
    return handles == 0 && leases == 0;
  }
}
