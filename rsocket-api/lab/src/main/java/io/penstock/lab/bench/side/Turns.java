package io.penstock.lab.bench.side;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/// Loads that take turns: round after round, so that a disturbance of the machine affects all of them.
public final class Turns {
  /// A part of its time that each load runs unmeasured before each turn.
  private static final int LEAD = 10;
  private static final int WARM_UP_TURNS = 4;

  private final NearSide near;
  private final SideSetting setting;
  private final BenchProgress progress;

  public Turns(NearSide near, SideSetting setting, BenchProgress progress) {
    this.near = near;
    this.setting = setting;
    this.progress = progress;
  }

  /// Running time of `loads` loads, with their warm-up.
  public static long nanos(SideSetting setting, int loads) {
    return warmUpNanos(setting, loads) * WARM_UP_TURNS * loads + (long) setting.rounds() * loads * turnNanos(setting);
  }

  private static long warmUpNanos(SideSetting setting, int loads) {
    return setting.warmUp().toNanos() / WARM_UP_TURNS / loads;
  }

  private static long turnNanos(SideSetting setting) {
    return setting.time().toNanos() + setting.time().toNanos() / LEAD;
  }

  /// One turn of one load.
  ///
  /// @param perSecond units
  /// @param nearCpuNanos of this process, for each unit
  /// @param farCpuNanos of the other one, for each unit
  public record Turn(double perSecond, double nearCpuNanos, double farCpuNanos, Histogram latencies) {
    public double cpuNanos() {
      return nearCpuNanos + farCpuNanos;
    }

    public double micros(double percentile) {
      return latencies.getValueAtPercentile(percentile) / 1e3;
    }

    public double averageMicros() {
      return latencies.getMean() / 1e3;
    }
  }

  /// The turns of each load, in the order of `loads`.
  public List<List<Turn>> of(List<Load> loads) {
    List<List<Turn>> turns = new ArrayList<>();
    loads.forEach(load -> turns.add(new ArrayList<>()));
    for (int round = 0; round < setting.rounds(); round++) {
      for (int i = 0; i < loads.size(); i++) {
        turns.get(i).add(turn(loads.get(i)));
        progress.ran(turnNanos(setting));
      }
    }
    return turns;
  }

  /// Runs the loads for as long as the warm-up takes, by short turns.
  public void warmUp(List<Load> loads) {
    long each = warmUpNanos(setting, loads.size());
    for (int turn = 0; turn < WARM_UP_TURNS && each > 0; turn++) {
      loads.forEach(load -> {
        load.run(each);
        progress.ran(each);
      });
    }
  }

  private Turn turn(Load load) {
    load.run(setting.time().toNanos() / LEAD);
    long farBefore = near.farCpuNanos();
    long nearBefore = ProcessCpu.nanos();
    Load.Done done = load.run(setting.time().toNanos());
    double nearCpu = ProcessCpu.nanos() - nearBefore;
    double farCpu = (double) near.farCpuNanos() - farBefore + done.otherCpuNanos();
    return new Turn(done.perSecond(), nearCpu / done.units(), farCpu / done.units(), done.latencies());
  }

  public static double median(List<Turn> turns, ToDoubleFunction<Turn> of) {
    return median(turns.stream().mapToDouble(of).toArray());
  }

  /// Median of the value `of` of one load, as a multiple of another load in the same round.
  public static double ratio(List<Turn> turns, List<Turn> to, ToDoubleFunction<Turn> of) {
    double[] ratios = new double[turns.size()];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = of.applyAsDouble(turns.get(i)) / of.applyAsDouble(to.get(i));
    }
    return median(ratios);
  }

  /// Median; the mean of the two values in the middle if their number is even. Sorts `values`.
  public static double median(double... values) {
    Arrays.sort(values);
    int half = values.length / 2;
    return values.length % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  }
}
