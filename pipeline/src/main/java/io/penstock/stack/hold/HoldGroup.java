package io.penstock.stack.hold;

import io.penstock.stack.decision.Resident;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Blocks that are read together: a hit on one of them leases all. Used in decisions only.
public final class HoldGroup {
  /// Maximum number of blocks of a group: a hit leases all of them in one decision.
  public static final int MOST_BLOCKS = 4096;

  private final String name;
  private final Map<String, HoldGroup> groups;
  private final Set<Resident> members = new LinkedHashSet<>();
  private @Nullable HeldLease lease;

  /// @param groups has it until its last member leaves
  HoldGroup(String name, Map<String, HoldGroup> groups) {
    this.name = name;
    this.groups = groups;
  }

  String name() {
    return name;
  }

  Set<Resident> members() {
    return members;
  }

  void join(Resident block) {
    members.add(block);
    ResidentHold.addTo(block).join(this);
  }

  void leave(Resident block) {
    members.remove(block);
    if (lease != null) {
      lease.leave(block);
    }
    if (members.isEmpty()) {
      groups.remove(name, this);
    }
  }

  void replace(Resident old, Resident fresh) {
    if (members.remove(old)) {
      members.add(fresh);
    }
    if (lease != null) {
      lease.replace(old, fresh);
    }
  }

  /// The lease of all members; null if there was none, or it has ended.
  @Nullable HeldLease lease() {
    return lease != null && lease.isOver() ? null : lease;
  }

  void leaseWith(HeldLease next) {
    lease = next;
  }
}
