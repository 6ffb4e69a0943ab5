package io.penstock.lab.simulate;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
  /// @param recording file of its recording; absent if there is none
  record Violation(long seed, String invariant, String message, String again, @Nullable String recording) {
    static Violation of(ViolationException e, @Nullable Path recording) {
      return new Violation(e.seed(), e.invariant().name(), String.valueOf(e.getMessage()), e.again(),
          recording == null ? null : recording.toString());
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

  SimulationReport plus(ViolationException violation, @Nullable Path recording) {
    List<Violation> all = new ArrayList<>(violations);
    all.add(Violation.of(violation, recording));
    return new SimulationReport(seeds + 1, digest, requests, delivered, left, givenUp, connections, steps,
        virtualSeconds, elapsedSeconds,
        List.copyOf(all));
  }

  SimulationReport after(double seconds) {
    return new SimulationReport(seeds, digest, requests, delivered, left, givenUp, connections, steps, virtualSeconds,
        seconds, violations);
  }
}
