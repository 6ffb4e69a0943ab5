package io.penstock.disagg.plan;

import io.penstock.check.Checks;

/// One device of a data-parallel replica.
///
/// @param stage pipeline stage
/// @param pcp prefill context rank
/// @param tp tensor-parallel rank
public record Rank(int stage, int pcp, int tp) {
  public Rank {
    Checks.notNegative("stage", stage);
    Checks.notNegative("pcp", pcp);
    Checks.notNegative("tp", tp);
  }

  /// For example `pp1.cp0.tp3`.
  @Override
  public String toString() {
    return "pp" + stage + ".cp" + pcp + ".tp" + tp;
  }
}
