package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// What happened, and how items ended. Safe from any thread.
final class FaultTally {
  private static final String RESTART = "RESTART";
  private final Map<String, Integer> ends = new TreeMap<>();
  private final Map<String, Integer> kinds = new TreeMap<>();
  private long bytes;

  /// Faults that happened, not those that were planned behind the last byte.
  synchronized int faults() {
    return kinds.values().stream().mapToInt(Integer::intValue).sum();
  }

  synchronized void restarted() {
    kinds.merge(RESTART, 1, Integer::sum);
  }

  synchronized void fired(List<FaultPlan> plans) {
    plans.forEach(plan -> kinds.merge(plan.kind().name(), 1, Integer::sum));
  }

  synchronized void ended(String how) {
    ends.merge(how, 1, Integer::sum);
  }

  synchronized void compared(long more) {
    bytes += more;
  }

  synchronized String kinds() {
    return faults() + " faults " + kinds;
  }

  /// Fails unless each kind of fault has happened.
  synchronized void requireEachKind() {
    assertThat(kinds).containsKey(RESTART)
        .containsKeys(FaultPlan.Kind.faults().stream().map(Enum::name).toArray(String[]::new));
  }

  @Override
  public synchronized String toString() {
    return kinds() + ", " + bytes + " bytes compared, " + ends;
  }
}
