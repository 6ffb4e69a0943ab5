package io.penstock.lab.bench.session;

import io.penstock.PenstockVersion;
import io.penstock.block.EvictionPolicy;
import io.penstock.lab.bench.side.Bench;
import io.penstock.node.config.Policies;
import io.penstock.node.text.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What `bench sessions` found.
///
/// @param penstock version
/// @param agents number of agents
/// @param people conversations without a session
/// @param pausePart part of the turns of agents before which there is a long pause
/// @param sizePart size of the pools, as part of the unbounded one
/// @param rows seeds and policies
/// @param least the least part of the unbounded pool's hits that `sessions` had for turns after a pause
/// @param worst most points that the other turns lost with `sessions` against the better of the other policies;
///     negative if they always won
record SessionReport(String penstock, int agents, int people, double pausePart, double sizePart, List<Row> rows,
    double least, double worst) implements Bench.Report {
  /// One policy over the trace of one seed.
  ///
  /// @param blocks that the pool has room for
  /// @param returns turns after a long pause
  /// @param returning hit rate of turns after a long pause
  /// @param ofUnbounded part of the unbounded pool's hit rate of these turns
  /// @param others hit rate of the other turns
  record Row(long seed, String policy, long blocks, long returns, double returning, double ofUnbounded,
      double others) {}

  static SessionReport of(int agents, int people, double pausePart, double sizePart, List<Long> seeds,
      List<EvictionPolicy> policies) {
    List<Row> rows = new ArrayList<>();
    double least = 1;
    double worst = Double.NEGATIVE_INFINITY;
    for (long seed : seeds) {
      List<SessionTurn> trace = SessionTrace.of(seed, agents, people, pausePart);
      SessionHits all = new SessionHits(EvictionPolicy.LRU, Long.MAX_VALUE).of(trace);
      rows.add(row(seed, "unbounded", all.keys(), all, all));
      long blocks = Math.max(1, (long) (sizePart * all.keys()));
      double best = 0;
      Row sessions = null;
      for (EvictionPolicy policy : policies) {
        Row row = row(seed, Policies.print(policy), blocks, new SessionHits(policy, blocks).of(trace), all);
        rows.add(row);
        sessions = policy == EvictionPolicy.SESSIONS ? row : sessions;
        best = policy == EvictionPolicy.SESSIONS ? best : Math.max(best, row.others);
      }
      if (sessions != null) {
        least = Math.min(least, sessions.ofUnbounded);
        worst = Math.max(worst, 100 * (best - sessions.others));
      }
    }
    return new SessionReport(PenstockVersion.current(), agents, people, pausePart, sizePart, List.copyOf(rows), least,
        worst);
  }

  private static Row row(long seed, String policy, long blocks, SessionHits hits, SessionHits all) {
    double rate = hits.returning().rate();
    double most = all.returning().rate();
    return new Row(seed, policy, blocks, hits.returning().turns(), rate, most == 0 ? 1 : rate / most,
        hits.others().rate());
  }

  /// Table for people.
  @Override
  public String table() {
    TextTable table = new TextTable("SEED", "POLICY", "BLOCKS", "RETURNS", "HITS OF RETURNS", "OF UNBOUNDED",
        "HITS OF OTHERS");
    rows.forEach(row -> table.row(row.seed, row.policy, row.blocks, row.returns, percent(row.returning),
        String.format(Locale.ROOT, "%.3f", row.ofUnbounded), percent(row.others)));
    return table + String.format(Locale.ROOT,
        "%nsessions: turns after a pause have at least %.3f of the unbounded pool's hits; other turns lose at most"
            + " %.1f points%n%d agents, %d conversations without a session; a pause of 30 to 600 s before %.0f %% of"
            + " the agents' turns%n",
        least, worst, agents, people, 100 * pausePart);
  }

  private static String percent(double rate) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * rate);
  }
}
