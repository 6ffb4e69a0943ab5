package io.penstock.node.party;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SpaceId;
import io.penstock.wire.protocol.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// Keys of the blocks that the ids of a trace stand for.
///
/// @param space of every key
/// @param fresh 0 for the keys that every replay uses; another value makes keys that no node has seen, so that a run on
///     a node with history starts cold
public record TraceKeys(SpaceId space, long fresh) {
  /// Maximum blocks of a question to a node.
  static final int PART_BLOCKS = Limits.defaults().maxKeys();

  public List<BlockKey> of(List<Long> ids) {
    List<BlockKey> keys = new ArrayList<>(ids.size());
    for (long id : ids) {
      BlockHash hash = PrefixHasher.ofTraceId(id);
      keys.add(new BlockKey(space, fresh == 0 ? hash : new BlockHash(hash.high() ^ fresh, hash.low())));
    }
    return keys;
  }

  /// A request in the parts in which a node is asked for it.
  public static List<List<Long>> parts(List<Long> ids) {
    return parts(ids, PART_BLOCKS);
  }

  /// A request in parts of no more blocks than a question to a node may have.
  ///
  /// @return the parts of `all` in order, each a view of at most `most` elements
  static <T> List<List<T>> parts(List<T> all, int most) {
    return IntStream.range(0, Math.ceilDiv(all.size(), most))
        .mapToObj(part -> all.subList(part * most, Math.min(all.size(), (part + 1) * most))).toList();
  }
}
