package io.penstock.node.sweep;

import io.penstock.block.BlockKey;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SpaceId;
import io.penstock.node.report.LruCurve;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import io.penstock.node.trace.TraceTotals;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The block references of a trace, in memory: 4 bytes each, beside one key for each distinct block.
///
/// @param keys of the distinct blocks
/// @param requests for each request, its prompt
/// @param totals of the trace
/// @param knee of the exact curve of LRU; empty for a trace without hits
record SweepTrace(List<BlockKey> keys, List<Prompt> requests, TraceTotals totals, Optional<LruCurve.At> knee) {
  static final SpaceId SPACE = new SpaceId(0, 0);

  /// @param tokens length of the prompt
  /// @param blocks indices of its blocks in `keys`, in order
  @SuppressWarnings("ArrayRecordComponent") // not shared beyond this package
  record Prompt(long tokens, int... blocks) {
    /// Tokens of the first `prefix` blocks.
    ///
    /// @param blockTokens tokens of a whole block
    long tokens(int prefix, int blockTokens) {
      return Math.min(tokens, (long) prefix * blockTokens);
    }
  }

  /// @param blockTokens tokens of a block
  static SweepTrace read(TraceSource source, int blockTokens) {
    Map<Long, Integer> indices = new HashMap<>();
    List<BlockKey> keys = new ArrayList<>();
    List<Prompt> requests = new ArrayList<>();
    TraceTotals totals = new TraceTotals(blockTokens);
    LruCurve curve = new LruCurve();
    for (TraceRequest request = source.next(); request != null; request = source.next()) {
      int[] blocks = new int[request.blocks()];
      for (int i = 0; i < blocks.length; i++) {
        long id = request.hashIds().get(i);
        blocks[i] = indices.computeIfAbsent(id, each -> {
          keys.add(new BlockKey(SPACE, PrefixHasher.ofTraceId(each)));
          return keys.size() - 1;
        });
        curve.add(id, request.tokens(i + 1, blockTokens) - request.tokens(i, blockTokens));
      }
      requests.add(new Prompt(request.inputTokens(), blocks));
      totals.add(request);
    }
    return new SweepTrace(keys, requests, totals, curve.knee());
  }

  /// References to blocks in all requests.
  long blockRefs() {
    return totals.references();
  }
}
