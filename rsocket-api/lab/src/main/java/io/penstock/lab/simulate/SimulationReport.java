package io.penstock.lab.simulate;

import java.util.ArrayList;
import java.util.List;

/// Result of the runs of a range of seeds.
///
/// @param seeds runs made
/// @param digest of the digests of all runs: equal for equal ranges and versions
/// @param requests of all runs
/// @param delivered whole and checked
/// @param left by their readers, on purpose
/// @param givenUp with a typed error, after faults
/// @param connections made
/// @param steps tasks that ran
/// @param virtualSeconds time inside the runs
/// @param elapsedSeconds time outside
/// @param violations one for each seed that broke an invariant
record SimulationReport(long seeds, long digest, long requests, long delivered, long left, long givenUp,
    long connections, long steps,
    double virtualSeconds, double elapsedSeconds, List<Violation> violations) {

  /// @param again the command line that shows it again
  record Violation(long seed, String invariant, String message, String again) {
    static Violation of(ViolationException e) {
      return new Violation(e.seed(), e.invariant().name(), String.valueOf(e.getMessage()), e.again());
    }
  }

  static SimulationReport empty() {
    return new SimulationReport(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, List.of());
  }

  SimulationReport plus(SimulationResult run) {
    return new SimulationReport(seeds + 1, (digest ^ run.digest()) * 0x9E3779B97F4A7C15L, requests + run.requests(),
        delivered + run.delivered(), left + run.left(), givenUp + run.failed(), connections + run.connections(),
        steps + run.steps(),
        virtualSeconds + run.virtualNanos() / 1e9, elapsedSeconds, violations);
  }

  SimulationReport plus(ViolationException violation) {
    List<Violation> all = new ArrayList<>(violations);
    all.add(Violation.of(violation));
    return new SimulationReport(seeds + 1, digest, requests, delivered, left, givenUp, connections, steps,
        virtualSeconds, elapsedSeconds,
        List.copyOf(all));
  }

  SimulationReport after(double seconds) {
    return new SimulationReport(seeds, digest, requests, delivered, left, givenUp, connections, steps, virtualSeconds,
        seconds, violations);
  }
}
