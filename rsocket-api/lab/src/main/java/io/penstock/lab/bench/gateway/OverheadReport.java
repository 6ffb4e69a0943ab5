package io.penstock.lab.bench.gateway;

import io.penstock.PenstockVersion;
import io.penstock.lab.bench.side.Bench;
import io.penstock.node.text.TextTable;
import java.util.List;
import java.util.Locale;

/// What an [OverheadBench] found: medians of rounds.
///
/// @param concurrency answers that were under way at a time
/// @param tokens of an answer that came as fast as it could
/// @param paceMillis between two tokens of a paced answer
record OverheadReport(String penstock, int concurrency, int tokens, double paceMillis, int rounds, List<Lane> lanes)
    implements
      Bench.Report {
  static final String DIRECT = "direct";
  /// What a request may cost more than directly, in milliseconds.
  static final double MOST_REQUEST_MILLIS = 1;
  /// What a token may cost more than directly, in microseconds.
  static final double MOST_TOKEN_MICROS = 50;
  /// Tokens a second that must come through.
  static final double LEAST_RATE = 5000;

  /// One form of answer on one way.
  ///
  /// @param tokensPerSecond as fast as the engine can
  /// @param tokenMicros time of a token at that rate, more than directly
  /// @param cpuMicros CPU time of the gateway for a token at that rate
  /// @param requestMillis p50 of a paced answer's time
  /// @param requestExtraMillis more than directly
  /// @param firstExtraMillis p50 of the time to the first token, more than directly
  /// @param delayExtraMicros p50 of the time that a paced token takes from the engine to the client, more than directly
  /// @param broken answers that were not whole, in all rounds
  record Lane(String way, String form, double tokensPerSecond, double tokenMicros, double cpuMicros,
      double requestMillis, double requestExtraMillis, double firstExtraMillis, double delayExtraMicros, long broken) {
    boolean isDirect() {
      return way.equals(DIRECT);
    }

    boolean isCheap() {
      return broken == 0 && (isDirect() || (tokensPerSecond >= LEAST_RATE && tokenMicros <= MOST_TOKEN_MICROS
          && requestExtraMillis <= MOST_REQUEST_MILLIS));
    }
  }

  OverheadReport {
    lanes = List.copyOf(lanes);
  }

  static OverheadReport of(OverheadLoad load, List<Lane> lanes) {
    return new OverheadReport(PenstockVersion.current(), load.concurrency(), load.tokens(),
        load.pace().toNanos() / 1e6, load.rounds(), lanes);
  }

  @Override
  public String table() {
    TextTable table = new TextTable("WAY", "FORM", "TOKENS/S", "µs/TOKEN MORE", "CPU µs/TOKEN", "REQUEST ms",
        "ms MORE", "FIRST ms MORE", "DELAY µs MORE", "");
    for (Lane lane : lanes) {
      table.row(lane.way(), lane.form(), number(lane.tokensPerSecond(), 0),
          more(lane, lane.tokenMicros(), 1), more(lane, lane.cpuMicros(), 1), number(lane.requestMillis(), 2),
          more(lane, lane.requestExtraMillis(), 2), more(lane, lane.firstExtraMillis(), 2),
          more(lane, lane.delayExtraMicros(), 0),
          lane.broken() > 0 ? lane.broken() + " NOT WHOLE" : lane.isCheap() ? "" : "MISSED");
    }
    return table + String.format(Locale.ROOT,
        "%n%d answers at a time; medians of %d rounds by turns; tokens/s with answers of %d tokens as fast as the"
            + " engine can, request, first and delay (p50) with %d tokens, %.1f ms apart%n"
            + "targets: %.0f ms a request, %.0f µs a token, %.0f tokens/s%n",
        concurrency, rounds, tokens, OverheadLoad.PACED_TOKENS, paceMillis, MOST_REQUEST_MILLIS, MOST_TOKEN_MICROS,
        LEAST_RATE);
  }

  private static String more(Lane lane, double value, int digits) {
    return lane.isDirect() ? "" : number(value, digits);
  }

  private static String number(double value, int digits) {
    return String.format(Locale.ROOT, "%." + digits + "f", value);
  }

  @Override
  public boolean meetsTargets() {
    return lanes.stream().allMatch(Lane::isCheap);
  }
}
