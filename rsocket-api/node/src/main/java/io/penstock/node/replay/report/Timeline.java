package io.penstock.node.replay.report;

import static java.util.Objects.requireNonNull;

import io.penstock.node.party.LedgerState;
import io.penstock.node.party.PartyStat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Course of a run, in a bounded number of points.
///
/// When there is no room for one more point, each two neighbours become one and the period between samples doubles; so
/// a run of any length has between half as many points as fit and as many as fit. One thread at a time.
public final class Timeline {
  private final int maxPoints;
  private final List<TimelinePoint> points = new ArrayList<>();
  private Duration period;
  private LedgerState start = LedgerState.NONE;
  private long startNanos;
  private long budgetBytes;

  /// @param maxPoints most points; even
  /// @param firstPeriod between samples, at first
  public Timeline(int maxPoints, Duration firstPeriod) {
    if (maxPoints < 2 || maxPoints % 2 != 0) {
      throw new IllegalArgumentException("maxPoints must be even and >= 2 (was " + maxPoints + ")");
    }
    if (!firstPeriod.isPositive()) {
      throw new IllegalArgumentException("firstPeriod must be > 0 (was " + firstPeriod + ")");
    }
    this.maxPoints = maxPoints;
    this.period = firstPeriod;
  }

  /// At most 240 points, about as many as a chart has room for; 100 ms apart in a run of up to 24 s.
  public static Timeline ofRun() {
    return new Timeline(240, Duration.ofMillis(100));
  }

  /// The run begins now.
  public void start(long nanos, PartyStat stat) {
    startNanos = nanos;
    start = requireNonNull(stat, "stat").ledger();
    budgetBytes = stat.budgetBytes();
  }

  /// Adds a sample.
  public void sample(long nanos, Tally.Interval interval, PartyStat stat) {
    add(new TimelinePoint(nanos - startNanos, interval.sums(), stat.inFlightBytes(), stat.ledger(),
        interval.firstLayers()));
  }

  /// Ends the run. Events of less than half a period count to the point before, because they are too few for a rate.
  public void end(long nanos, Tally.Interval interval, PartyStat stat) {
    sample(nanos, interval, stat);
    int last = points.size() - 1;
    if (last > 0 && points.get(last).nanos() - points.get(last - 1).nanos() < period.toNanos() / 2) {
      points.set(last - 1, points.get(last - 1).merge(points.remove(last)));
    }
  }

  /// Time until the next sample.
  public Duration period() {
    return period;
  }

  /// Points in the order of time.
  public List<TimelinePoint> points() {
    return List.copyOf(points);
  }

  /// The state of the ledger when the run began.
  LedgerState start() {
    return start;
  }

  long budgetBytes() {
    return budgetBytes;
  }

  private void add(TimelinePoint point) {
    if (points.size() == maxPoints) {
      halve();
    }
    points.add(point);
  }

  private void halve() {
    for (int i = 0; i < maxPoints / 2; i++) {
      points.set(i, points.get(2 * i).merge(points.get(2 * i + 1)));
    }
    points.subList(maxPoints / 2, maxPoints).clear();
    period = period.multipliedBy(2);
  }
}
