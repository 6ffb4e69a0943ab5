package io.penstock.node.sweep;

import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.pool.Ledger;

/// One policy at one capacity on a trace: each block of a request is touched if it is present, else inserted.
final class SweepRun {
  private static final Ledger.Moves<Boolean> UNHEARD = (key, value, level) -> {};

  private final SweepTrace trace;
  private final Ledger<Boolean> ledger;
  private long hits;
  private long prefixHits;
  private long tokensReused;

  private SweepRun(SweepTrace trace, EvictionPolicy policy, long capacity) {
    this.trace = trace;
    this.ledger = new Ledger<>(SweepTrace.SPACE, policy, capacity);
  }

  static SweepResult of(SweepTrace trace, EvictionPolicy policy, long capacity) {
    SweepRun run = new SweepRun(trace, policy, capacity);
    trace.requests().forEach(run::request);
    return SweepResult.of(policy, capacity, trace.blockRefs(), run.hits, run.prefixHits, run.tokensReused);
  }

  private void request(SweepTrace.Prompt prompt) {
    int[] blocks = prompt.blocks();
    int prefix = prefix(blocks);
    prefixHits += prefix;
    tokensReused += prompt.tokens(prefix, trace.totals().blockTokens());
    for (int i = 0; i < blocks.length; i++) {
      BlockKey key = trace.keys().get(blocks[i]);
      if (ledger.touch(key, i, UNHEARD) != null) {
        hits++;
      } else {
        ledger.insert(key, true, i, UNHEARD);
      }
    }
  }

  private int prefix(int... blocks) {
    int length = 0;
    while (length < blocks.length && ledger.level(trace.keys().get(blocks[length])) >= 0) {
      length++;
    }
    return length;
  }
}
