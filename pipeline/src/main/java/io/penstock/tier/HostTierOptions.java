package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Checks;
import io.penstock.pool.EvictionPolicy;
import io.penstock.pool.Ledger;

/// How a [HostTier] is set up.
///
/// @param name named in receipts, errors and meters
/// @param capacityBlocks most visible blocks, or [Ledger#UNBOUNDED]
/// @param reserveBlocks slots beyond the capacity, for blocks being written and blocks leased after their eviction; at
///     least one window
/// @param policy which block is evicted first
/// @param maxWaiters longest queue of reservations that wait for room
/// @param eventLogSize events kept for readers that are late or slow
/// @param verifyReads whether every byte is compared with its checksum before it is handed out
public record HostTierOptions(String name, long capacityBlocks, int reserveBlocks, EvictionPolicy policy,
    int maxWaiters, int eventLogSize, boolean verifyReads) {
  public HostTierOptions {
    requireNonNull(name, "name");
    requireNonNull(policy, "policy");
    Checks.positive("capacityBlocks", capacityBlocks);
    Checks.positive("reserveBlocks", reserveBlocks);
    Checks.positive("maxWaiters", maxWaiters);
    Checks.positive("eventLogSize", eventLogSize);
    if (capacityBlocks != Ledger.UNBOUNDED && capacityBlocks > Integer.MAX_VALUE - (long) reserveBlocks) {
      throw new IllegalArgumentException("capacityBlocks + reserveBlocks must be <= " + Integer.MAX_VALUE
          + " or capacityBlocks unbounded (was " + capacityBlocks + " + " + reserveBlocks + ")");
    }
  }

  /// Named `dram`: exact LRU, 128 reserve slots, 1,024 waiters, 65,536 events, verified reads.
  public static HostTierOptions defaults(long capacityBlocks) {
    return new HostTierOptions("dram", capacityBlocks, 128, EvictionPolicy.LRU, 1024, 65_536, true);
  }

  public HostTierOptions withName(String name) {
    return new HostTierOptions(name, capacityBlocks, reserveBlocks, policy, maxWaiters, eventLogSize, verifyReads);
  }

  public HostTierOptions withReserveBlocks(int reserveBlocks) {
    return new HostTierOptions(name, capacityBlocks, reserveBlocks, policy, maxWaiters, eventLogSize, verifyReads);
  }

  public HostTierOptions withPolicy(EvictionPolicy policy) {
    return new HostTierOptions(name, capacityBlocks, reserveBlocks, policy, maxWaiters, eventLogSize, verifyReads);
  }

  public HostTierOptions withMaxWaiters(int maxWaiters) {
    return new HostTierOptions(name, capacityBlocks, reserveBlocks, policy, maxWaiters, eventLogSize, verifyReads);
  }

  public HostTierOptions withEventLogSize(int eventLogSize) {
    return new HostTierOptions(name, capacityBlocks, reserveBlocks, policy, maxWaiters, eventLogSize, verifyReads);
  }

  public HostTierOptions withVerifyReads(boolean verifyReads) {
    return new HostTierOptions(name, capacityBlocks, reserveBlocks, policy, maxWaiters, eventLogSize, verifyReads);
  }

  StackOptions stack() {
    return StackOptions.defaults(name).withIngressBlocks(reserveBlocks).withPolicy(policy).withMaxWaiters(maxWaiters)
        .withEventLogSize(eventLogSize).withVerifyReads(verifyReads);
  }
}
