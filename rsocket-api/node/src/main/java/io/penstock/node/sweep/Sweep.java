package io.penstock.node.sweep;

import io.penstock.block.EvictionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;

/// Runs each policy at each capacity on a trace, on all cores.
///
/// @param policies in the order of the results
/// @param capacities in blocks, in the order of the results of one policy
record Sweep(List<EvictionPolicy> policies, List<Long> capacities) {
  Sweep {
    policies = List.copyOf(policies);
    capacities = List.copyOf(capacities);
  }

  int runs() {
    return policies.size() * capacities.size();
  }

  /// @param progress receives the number of ended runs, in their order
  List<SweepResult> run(SweepTrace trace, IntConsumer progress) throws InterruptedException {
    try (ExecutorService cores = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
      try {
        return results(submit(cores, trace), progress);
      } finally {
        cores.shutdownNow();
      }
    }
  }

  private List<Future<SweepResult>> submit(ExecutorService cores, SweepTrace trace) {
    List<Future<SweepResult>> runs = new ArrayList<>();
    for (EvictionPolicy policy : policies) {
      for (long capacity : capacities) {
        runs.add(cores.submit(() -> SweepRun.of(trace, policy, capacity)));
      }
    }
    return runs;
  }

  private static List<SweepResult> results(List<Future<SweepResult>> runs, IntConsumer progress)
      throws InterruptedException {
    List<SweepResult> results = new ArrayList<>();
    for (Future<SweepResult> run : runs) {
      try {
        results.add(run.get());
      } catch (ExecutionException e) {
        throw new IllegalStateException("a run must end with a result (failed)", e.getCause());
      }
      progress.accept(results.size());
    }
    return results;
  }
}
