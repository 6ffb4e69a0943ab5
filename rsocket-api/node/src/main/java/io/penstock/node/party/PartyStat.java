package io.penstock.node.party;

/// Figures of one party of a replay.
///
/// @param inFlightBytes bytes in flight now
/// @param peakInFlightBytes most bytes ever in flight
/// @param budgetBytes the limit on them
/// @param claimedBlocks slots of its arena that are lent now, without the blocks that a tier keeps visible
/// @param ledger of the node; of other parties none
public record PartyStat(long inFlightBytes, long peakInFlightBytes, long budgetBytes, long claimedBlocks,
    LedgerState ledger) {
  /// Figures of a party without a ledger.
  PartyStat(long inFlightBytes, long peakInFlightBytes, long budgetBytes, long claimedBlocks) {
    this(inFlightBytes, peakInFlightBytes, budgetBytes, claimedBlocks, LedgerState.NONE);
  }

  /// These figures with another ledger.
  PartyStat withLedger(LedgerState other) {
    return new PartyStat(inFlightBytes, peakInFlightBytes, budgetBytes, claimedBlocks, other);
  }

  /// Sum of the figures of both parties.
  PartyStat plus(PartyStat other) {
    return new PartyStat(inFlightBytes + other.inFlightBytes, peakInFlightBytes + other.peakInFlightBytes,
        budgetBytes + other.budgetBytes, claimedBlocks + other.claimedBlocks, ledger.or(other.ledger));
  }
}
