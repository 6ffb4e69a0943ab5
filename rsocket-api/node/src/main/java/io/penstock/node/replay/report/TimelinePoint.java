package io.penstock.node.replay.report;

import io.penstock.node.party.LedgerState;
import org.HdrHistogram.AbstractHistogram;

/// A run at one moment, and what happened since the point before.
///
/// @param nanos since the run began
/// @param sums of the whole run so far
/// @param inFlightBytes most that was seen since the point before
/// @param ledger of the node at this moment
/// @param firstSlices nanoseconds from lease to first slice, of the requests that ended since the point before
public record TimelinePoint(long nanos, Tally.Sums sums, long inFlightBytes, LedgerState ledger,
    AbstractHistogram firstSlices) {
  /// This point and the one after it as one, that stands where `next` did. Takes over both histograms.
  TimelinePoint merge(TimelinePoint next) {
    next.firstSlices.add(firstSlices);
    return new TimelinePoint(next.nanos, next.sums, Math.max(inFlightBytes, next.inFlightBytes), next.ledger,
        next.firstSlices);
  }
}
