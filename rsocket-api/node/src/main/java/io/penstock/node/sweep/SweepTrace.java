package io.penstock.node.sweep;

import io.penstock.block.BlockKey;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SpaceId;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The block references of a trace, in memory: 4 bytes each, beside one key for each distinct block.
///
/// @param keys of the distinct blocks
/// @param requests for each request, the indices of its blocks in `keys`, in order
/// @param blockRefs in all requests
record SweepTrace(List<BlockKey> keys, List<int[]> requests, long blockRefs) {
  static final SpaceId SPACE = new SpaceId(0, 0);

  static SweepTrace read(TraceSource source) {
    Map<Long, Integer> indices = new HashMap<>();
    List<BlockKey> keys = new ArrayList<>();
    List<int[]> requests = new ArrayList<>();
    long blockRefs = 0;
    for (TraceRequest request = source.next(); request != null; request = source.next()) {
      int[] blocks = new int[request.blocks()];
      for (int i = 0; i < blocks.length; i++) {
        long id = request.hashIds().get(i);
        blocks[i] = indices.computeIfAbsent(id, each -> {
          keys.add(new BlockKey(SPACE, PrefixHasher.ofTraceId(each)));
          return keys.size() - 1;
        });
      }
      requests.add(blocks);
      blockRefs += blocks.length;
    }
    return new SweepTrace(keys, requests, blockRefs);
  }
}
