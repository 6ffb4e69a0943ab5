package io.penstock.pool.curve;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/// The hit rate of a cache under LRU, as a function of its capacity.
///
/// @param references that the curve has seen
/// @param rate part of the keys that are sampled now
/// @param samples keys that are sampled now
/// @param depthBlocks greatest capacity that the curve covers
/// @param points by capacity, ascending; none before the first reference
public record HitRateCurve(long references, double rate, int samples, long depthBlocks, List<Point> points) {
  /// Student's factor for an interval of 95 % from 16 independent estimates.
  private static final double STUDENT = 2.131;

  public HitRateCurve {
    points = List.copyOf(points);
  }

  /// The hit rate at one capacity.
  ///
  /// @param hitRate hits for each reference, in `[0, 1]`
  /// @param plusMinus half the width of the interval around it that holds the exact hit rate with a probability of
  ///     about 95 %
  /// @param estimates of independent groups of keys; their mean is the hit rate before it is cut off at 0. Empty if the
  ///     hit rate is exact
  public record Point(long capacityBlocks, double hitRate, double plusMinus, List<Double> estimates) {
    public Point {
      Checks.notNegative("capacityBlocks", capacityBlocks);
      estimates = List.copyOf(requireNonNull(estimates, "estimates"));
    }

    static Point of(long capacityBlocks, double rate, List<Double> estimates) {
      double mean = mean(estimates);
      return new Point(capacityBlocks, Math.clamp(mean, 0, 1), error(rate, estimates), estimates);
    }

    /// A point without an error.
    public static Point exact(long capacityBlocks, double hitRate) {
      return new Point(capacityBlocks, hitRate, 0, List.of());
    }
  }

  /// The point at `capacityBlocks`: on a straight line between two points; beyond the last one, at its height.
  public Point at(long capacityBlocks) {
    int after = Collections.binarySearch(points, Point.exact(capacityBlocks, 0),
        Comparator.comparingLong(Point::capacityBlocks));
    if (after >= 0) {
      return points.get(after);
    }
    after = -after - 1;
    if (points.isEmpty()) {
      return Point.exact(capacityBlocks, 0);
    }
    if (after == points.size()) {
      Point last = points.getLast();
      return new Point(capacityBlocks, last.hitRate, last.plusMinus, last.estimates);
    }
    Point to = points.get(after);
    Point from = after == 0 ? new Point(0, 0, 0, Collections.nCopies(to.estimates.size(), 0.0)) : points.get(after - 1);
    double part = (double) (capacityBlocks - from.capacityBlocks) / (to.capacityBlocks - from.capacityBlocks);
    return new Point(capacityBlocks, between(from.hitRate, to.hitRate, part),
        between(from.plusMinus, to.plusMinus, part), combined(from, to, (a, b) -> between(a, b, part)));
  }

  /// How much the hit rate gains from `fromBlocks` to `toBlocks`. Both hit rates come from the same samples, so the
  /// error is that of the difference, and less than the sum of the two errors.
  public Point gain(long fromBlocks, long toBlocks) {
    Point from = at(fromBlocks);
    Point to = at(toBlocks);
    List<Double> gains = combined(from, to, (a, b) -> b - a);
    return new Point(toBlocks, to.hitRate - from.hitRate, error(rate, gains), gains);
  }

  private static double between(double from, double to, double part) {
    return from + part * (to - from);
  }

  private interface Combination {
    double of(double from, double to);
  }

  private static List<Double> combined(Point from, Point to, Combination combination) {
    List<Double> estimates = new ArrayList<>();
    for (int i = 0; i < Math.min(from.estimates.size(), to.estimates.size()); i++) {
      estimates.add(combination.of(from.estimates.get(i), to.estimates.get(i)));
    }
    return estimates;
  }

  private static double mean(List<Double> estimates) {
    return estimates.stream().mapToDouble(each -> each).average().orElse(0);
  }

  /// The error of the mean of `estimates`, from their spread. A part `rate` of all keys is in the estimates and adds no
  /// error: nothing is uncertain where all keys are sampled.
  private static double error(double rate, List<Double> estimates) {
    int count = estimates.size();
    if (count < 2) {
      return 0;
    }
    double mean = mean(estimates);
    double squares = estimates.stream().mapToDouble(each -> (each - mean) * (each - mean)).sum();
    return STUDENT * Math.sqrt((1 - rate) * squares / (count - 1) / count);
  }
}
