package io.penstock.node.replay.report;

import io.penstock.node.party.LedgerState;
import org.HdrHistogram.AbstractHistogram;

/// State of a run at one moment, and the events since the point before.
///
/// @param nanos since the run began
/// @param sums of the whole run so far
/// @param inFlightBytes maximum since the point before
/// @param ledger of the node at this moment
/// @param firstLayers nanoseconds from the question until layer 0 of every block had come, of the requests that ended
///     since the point before
public record TimelinePoint(long nanos, Tally.Sums sums, long inFlightBytes, LedgerState ledger,
    AbstractHistogram firstLayers) {
  /// Merges this point with the next one, at the place of `next`. Takes over both histograms.
  TimelinePoint merge(TimelinePoint next) {
    next.firstLayers.add(firstLayers);
    return new TimelinePoint(next.nanos, next.sums, Math.max(inFlightBytes, next.inFlightBytes), next.ledger,
        next.firstLayers);
  }
}
