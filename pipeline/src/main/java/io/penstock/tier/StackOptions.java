package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Checks;
import io.penstock.pool.EvictionPolicy;

/// How a [TierStack] is set up. The four kinds of slots are host memory beyond the capacity of any level, each for one
/// purpose, so that no other use takes them.
///
/// @param name named in receipts, errors and meters
/// @param mode whether a block is kept on one level or on all from its own down
/// @param ingressBlocks slots for blocks being written; where the first level is host memory, slots beyond its capacity
/// @param transferBlocks slots for windows that are read for a reader, for each level that is not host memory; also the
///     most blocks of a window
/// @param promotionBlocks slots for blocks that were read and wait for room on a faster level; a block that gets none
///     is not promoted
/// @param bounceBlocks slots for blocks on their way from a device to a disk, and beyond the capacity of a host level
///     below a device
/// @param batchBlocks most blocks that are copied to or from a store at once
/// @param policy which block is evicted first
/// @param maxWaiters longest queue of reservations, or of windows, that wait for room
/// @param eventLogSize events kept for readers that are late or slow
/// @param verifyReads whether blocks in host memory are compared with their checksums before they are handed out
/// @param tiering where it leaves the textbook policy, for the sake of its disk
public record StackOptions(String name, StackMode mode, int ingressBlocks, int transferBlocks, int promotionBlocks,
    int bounceBlocks, int batchBlocks, EvictionPolicy policy, int maxWaiters, int eventLogSize, boolean verifyReads,
    TieringOptions tiering) {
  public StackOptions {
    requireNonNull(tiering, "tiering");
    requireNonNull(name, "name");
    requireNonNull(mode, "mode");
    requireNonNull(policy, "policy");
    Checks.positive("ingressBlocks", ingressBlocks);
    Checks.positive("transferBlocks", transferBlocks);
    Checks.positive("promotionBlocks", promotionBlocks);
    Checks.positive("bounceBlocks", bounceBlocks);
    Checks.positive("batchBlocks", batchBlocks);
    Checks.positive("maxWaiters", maxWaiters);
    Checks.positive("eventLogSize", eventLogSize);
  }

  /// Exclusive, exact LRU, 128 slots each for ingress, transfer and promotion, 64 to bounce, batches of 64 blocks,
  /// 1,024 waiters, 65,536 events, verified reads.
  public static StackOptions defaults(String name) {
    return new StackOptions(name, StackMode.EXCLUSIVE, 128, 128, 128, 64, 64, EvictionPolicy.LRU, 1024, 65_536, true,
        TieringOptions.exact());
  }

  public StackOptions withMode(StackMode mode) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering);
  }

  public StackOptions withIngressBlocks(int ingressBlocks) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering);
  }

  public StackOptions withTransferBlocks(int transferBlocks) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering);
  }

  public StackOptions withPromotionBlocks(int promotionBlocks) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering);
  }

  public StackOptions withBounceBlocks(int bounceBlocks) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering);
  }

  public StackOptions withBatchBlocks(int batchBlocks) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering);
  }

  public StackOptions withPolicy(EvictionPolicy policy) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering);
  }

  public StackOptions withMaxWaiters(int maxWaiters) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering);
  }

  public StackOptions withEventLogSize(int eventLogSize) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering);
  }

  public StackOptions withVerifyReads(boolean verifyReads) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering);
  }

  public StackOptions withTiering(TieringOptions tiering) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering);
  }
}
