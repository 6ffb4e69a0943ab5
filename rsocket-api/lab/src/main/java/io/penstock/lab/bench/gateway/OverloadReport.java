package io.penstock.lab.bench.gateway;

import io.penstock.lab.bench.side.Bench;
import io.penstock.node.text.TextTable;
import java.util.Collections;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;

/// What an [OverloadBench] found.
///
/// @param slots answers that run at a time, at most
/// @param queue requests that wait at most
/// @param factor of the capacity that was asked for
/// @param seconds of the overload
/// @param capacity answers that the engine can give in a second: slots by the time of an answer
/// @param calm answers a second without overload, as many at a time as the engine has slots
/// @param goodput whole answers a second under overload
/// @param whole answers under overload
/// @param refused requests that were refused with a time
/// @param left clients that went while they waited
/// @param broken requests that were neither answered nor refused with a time, by what became of them
/// @param mostAtEngine the most answers that ran at a time; an engine sees later than the gateway that a client went
/// @param refusalCpuMicros CPU time of the gateway for a refusal: its CPU time under overload, less that of the whole
///   answers
/// @param answerCpuMicros CPU time of the gateway for a whole answer without overload
/// @param refusalMillis p50 of the time until a refusal
/// @param toldSeconds p50 of Retry-After
/// @param waitedSeconds p50 of the wait of answered requests, longer than without overload
/// @param memoryFirstMiB most resident memory in the first third of the overload; 0 if the system does not tell it
/// @param memoryLastMiB most resident memory in the last third
/// @param recoverySeconds after the overload, until no request is refused or waits
record OverloadReport(String penstock, int slots, int queue, double factor, long seconds, double capacity, double calm,
    double goodput, long whole, long refused, long left, SortedMap<String, Long> broken, int mostAtEngine,
    double refusalCpuMicros,
    double answerCpuMicros, double refusalMillis, double toldSeconds, double waitedSeconds, double memoryFirstMiB,
    double memoryLastMiB, double recoverySeconds) implements Bench.Report {
  private static final double LEAST_GOODPUT = 0.9;
  private static final double MOST_RECOVERY_SECONDS = 2;
  private static final double MOST_GROWTH = 1.1;
  /// Retry-After is in whole seconds.
  private static final double TOLD_LONGER_SECONDS = 1.5;

  OverloadReport {
    broken = Collections.unmodifiableSortedMap(new TreeMap<>(broken));
  }

  @Override
  public String table() {
    TextTable table = new TextTable("WHAT", "FOUND", "TARGET", "");
    row(table, "goodput",
        "%.1f answers/s, %.3f × capacity; without overload %.3f".formatted(goodput, goodput / capacity,
            calm / capacity),
        "≥ 0.9 ×",
        isGood());
    row(table, "neither answered nor refused", broken.isEmpty() ? "0" : broken.toString(), "0", broken.isEmpty());
    row(table, "answers at a time at the engine", "%d of %d".formatted(mostAtEngine, slots), "", true);
    row(table, "Retry-After", "%.1f s, where others waited %.2f s".formatted(toldSeconds, waitedSeconds),
        "wait to wait + 1.5 s", isHonest());
    row(table, "refusal", "%.0f µs of CPU, after %.1f ms; an answer takes %.0f µs".formatted(refusalCpuMicros,
        refusalMillis, answerCpuMicros), "less than an answer", isCheap());
    row(table, "memory", "%.0f MiB, at last %.0f MiB".formatted(memoryFirstMiB, memoryLastMiB), "flat, to 10 %",
        isFlat());
    row(table, "recovery", "%.2f s".formatted(recoverySeconds), "≤ 2 s", isSoon());
    return table + String.format(Locale.ROOT,
        "%n%.1f × capacity (%.1f answers/s) for %d s; %d slots, a queue of %d; %d answers, %d refused, %d clients went"
            + " while they waited%n",
        factor, capacity, seconds, slots, queue, whole, refused, left);
  }

  private static void row(TextTable table, String what, String found, String target, boolean met) {
    table.row(what, found, target, met ? "" : "MISSED");
  }

  private boolean isGood() {
    return goodput >= LEAST_GOODPUT * capacity;
  }

  private boolean isHonest() {
    return toldSeconds >= waitedSeconds && toldSeconds <= waitedSeconds + TOLD_LONGER_SECONDS;
  }

  private boolean isCheap() {
    return refusalCpuMicros < answerCpuMicros;
  }

  private boolean isFlat() {
    return memoryLastMiB <= MOST_GROWTH * memoryFirstMiB;
  }

  private boolean isSoon() {
    return recoverySeconds <= MOST_RECOVERY_SECONDS;
  }

  @Override
  public boolean meetsTargets() {
    return isGood() && broken.isEmpty() && isHonest() && isCheap() && isFlat() && isSoon();
  }
}
