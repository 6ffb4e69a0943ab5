package io.penstock.lab.bench.recording;

import io.penstock.check.Checks;

/// Load of a [RecordingBench].
///
/// @param blocks that are put, and then read, in each turn
/// @param rounds of which the medians are taken
record RecordedLoad(int blockBytes, int blocks, int rounds) {
  /// Rounds before those that count.
  static final int WARMING = 3;

  RecordedLoad {
    Checks.positive("blockBytes", blockBytes);
    Checks.positive("blocks", blocks);
    Checks.positive("rounds", rounds);
  }
}
