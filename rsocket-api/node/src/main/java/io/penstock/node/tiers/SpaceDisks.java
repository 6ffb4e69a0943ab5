package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.node.setting.Capacity;
import io.penstock.pool.share.SpaceShares;
import java.util.List;

/// Division of a disk among several spaces, once: by weight, each within its quota. The rest of a quota goes to the
/// others, by their weights. A space keeps to its part, so none takes room on the disk from another.
final class SpaceDisks {
  private final TierPlan base;
  private final double weights;
  /// Parts of a disk that is stated in bytes. One that is stated in blocks is divided by weight alone.
  private final SpaceShares<String> shares;
  private final long whole;

  /// @param base with the whole disk
  SpaceDisks(TierPlan base, List<SpacePlan> spaces) {
    this.base = base;
    this.weights = spaces.stream().mapToDouble(SpacePlan::weight).sum();
    this.whole = base.ssd() instanceof Capacity.Bytes some ? Math.max(1, some.bytes()) : 1;
    this.shares = new SpaceShares<>(whole);
    spaces.forEach(space -> shares.add(space.name(), space.weight(), space.ssdQuotaBytes()));
  }

  /// `plan` with the part of `space`, in a folder of its own.
  TierPlan withDisk(TierPlan plan, SpacePlan space) {
    if (base.ssd().isOff()) {
      return plan;
    }
    double part =
        base.ssd() instanceof Capacity.Bytes ? (double) shares.share(space.name()) / whole : space.weight() / weights;
    return plan.withSsd(capacity(space, part), requireNonNull(base.disk()).ofSpace(space.name(), part));
  }

  private Capacity capacity(SpacePlan space, double part) {
    int blockBytes = space.blockBytes();
    return base.ssd() instanceof Capacity.Bytes
        ? Capacity.ofBytes(Math.max(blockBytes, shares.share(space.name())))
        : Capacity.ofBlocks(Math.max(1,
            Math.min((long) (base.ssd().inBlocks(blockBytes) * part), space.ssdQuotaBytes() / blockBytes)));
  }
}
