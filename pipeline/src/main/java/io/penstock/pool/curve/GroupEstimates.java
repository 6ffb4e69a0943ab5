package io.penstock.pool.curve;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The hit rates that each group of sampled keys estimates, at ascending capacities, as independent estimates.
///
/// The groups share one stack, so a group with more keys than the others makes the distances of all of them too long.
/// Left alone, the spread of the groups would not show this error. So a group's estimate is lowered by what its excess
/// of keys does to the whole: the hit rate at a capacity that is smaller by this share. That is the infinitesimal
/// jackknife (Jaeckel, "The Infinitesimal Jackknife", Bell Laboratories, 1972). The mean of the groups stays.
final class GroupEstimates {
  /// Factor between a capacity and the two others that show the slope of the curve there.
  private static final double SPAN = 1.5;

  private final List<Long> capacities = new ArrayList<>();
  private final List<double[]> hitRates = new ArrayList<>();

  /// Adds the estimates at a capacity below all others.
  void addBelow(long capacity, double... ofGroups) {
    capacities.addFirst(capacity);
    hitRates.addFirst(ofGroups);
  }

  /// The points of the curve.
  ///
  /// @param rate part of the keys that are sampled
  /// @param keys sampled keys of each group
  List<HitRateCurve.Point> points(double rate, int... keys) {
    double mean = Arrays.stream(keys).average().orElse(0);
    List<HitRateCurve.Point> points = new ArrayList<>();
    for (int i = 0; i < capacities.size(); i++) {
      double slope = mean == 0 ? 0 : slope(i) / mean;
      List<Double> estimates = new ArrayList<>();
      for (int group = 0; group < keys.length; group++) {
        estimates.add(hitRates.get(i)[group] - slope * (keys[group] - mean));
      }
      points.add(HitRateCurve.Point.of(capacities.get(i), rate, estimates));
    }
    return points;
  }

  /// Growth of the hit rate at a capacity, for each unit of its natural logarithm. No distance is longer than the last
  /// capacity, so the error of distances counts for nothing there.
  private double slope(int at) {
    if (at == capacities.size() - 1) {
      return 0;
    }
    long capacity = Math.max(1, capacities.get(at));
    int from = at;
    while (from > 0 && capacities.get(from) > capacity / SPAN) {
      from--;
    }
    int to = at;
    while (to < capacities.size() - 1 && capacities.get(to) < capacity * SPAN) {
      to++;
    }
    double reached = Math.max(capacities.get(to), capacity * SPAN);
    return (mean(to) - mean(from)) / Math.log(reached / Math.max(1, capacities.get(from)));
  }

  private double mean(int at) {
    return Arrays.stream(hitRates.get(at)).average().orElse(0);
  }
}
