package io.penstock.node.party;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SpaceId;
import java.util.ArrayList;
import java.util.List;

/// Keys of the blocks that the ids of a trace stand for.
///
/// @param space of every key
/// @param fresh 0 for the keys that every replay uses; another value makes keys that no node has seen, so that a run on
///     a node with history starts cold
public record TraceKeys(SpaceId space, long fresh) {
  public List<BlockKey> of(List<Long> ids) {
    List<BlockKey> keys = new ArrayList<>(ids.size());
    for (long id : ids) {
      BlockHash hash = PrefixHasher.ofTraceId(id);
      keys.add(new BlockKey(space, fresh == 0 ? hash : new BlockHash(hash.high() ^ fresh, hash.low())));
    }
    return keys;
  }
}
