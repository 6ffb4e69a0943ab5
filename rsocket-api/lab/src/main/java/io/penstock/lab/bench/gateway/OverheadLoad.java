package io.penstock.lab.bench.gateway;

import io.penstock.check.Checks;
import java.time.Duration;
import java.util.List;

/// Load of an [OverheadBench].
///
/// @param forms of the answers
/// @param concurrency answers that are under way at a time
/// @param tokens of an answer that comes as fast as it can
/// @param pace time between two tokens of a paced answer
/// @param time of a turn
/// @param warmUp rounds before those that count
/// @param rounds of which the medians are taken
record OverheadLoad(List<AnswerForm> forms, int concurrency, int tokens, Duration pace, Duration time, int warmUp,
    int rounds) {
  /// Tokens of a paced answer.
  static final int PACED_TOKENS = 16;

  OverheadLoad {
    forms = List.copyOf(forms);
    Checks.positive("--concurrency", concurrency);
    Checks.positive("--tokens", tokens);
    Checks.positive("--pace", pace);
    Checks.positive("--seconds", time);
    Checks.notNegative("--warm-up", warmUp);
    Checks.positive("--rounds", rounds);
  }
}
