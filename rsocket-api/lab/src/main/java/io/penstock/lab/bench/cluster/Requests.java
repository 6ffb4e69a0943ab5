package io.penstock.lab.bench.cluster;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.node.party.TraceKeys;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.TraceGenerator;
import io.penstock.node.trace.TraceReader;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The prompts of a trace, as keys of blocks.
///
/// @param prompts in the order of the trace
record Requests(List<List<BlockKey>> prompts) {
  Requests {
    prompts = List.copyOf(prompts);
  }

  /// The first `most` requests of a trace, or of one that is made from `seed`.
  ///
  /// @param trace null for one that is made
  static Requests of(@Nullable Path trace, int most, long seed, CacheSpace space) {
    TraceKeys keys = new TraceKeys(space.id(), 0);
    List<List<BlockKey>> prompts = new ArrayList<>();
    try (TraceSource source = trace == null
        ? new TraceGenerator(GeneratorOptions.defaults().withRequests(most).withSeed(seed))
        : TraceReader.open(trace)) {
      TraceRequest next = source.next();
      while (next != null && prompts.size() < most) {
        prompts.add(keys.of(next.hashIds()));
        next = source.next();
      }
    }
    return new Requests(prompts);
  }

  long blocks() {
    return prompts.stream().mapToLong(List::size).sum();
  }

  long distinct() {
    Set<BlockKey> all = new HashSet<>();
    prompts.forEach(all::addAll);
    return all.size();
  }

  /// Blocks that one pool of the textbook policy would have of the prompts, as prefixes.
  ///
  /// @param room blocks that it has room for
  long hitsOfOneLru(long room) {
    LoneLru lone = new LoneLru(room);
    return prompts.stream().mapToLong(lone::prefix).sum();
  }

  /// One pool of the textbook policy, as large as all nodes together, without bytes.
  private static final class LoneLru {
    private final Map<BlockKey, Boolean> order;

    LoneLru(long blocks) {
      this.order = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<BlockKey, Boolean> eldest) {
          return size() > blocks;
        }
      };
    }

    /// Refers to `keys` in order, as a request does.
    ///
    /// @return how many of them, from the first on, were there
    int prefix(List<BlockKey> keys) {
      int prefix = 0;
      while (prefix < keys.size() && order.containsKey(keys.get(prefix))) {
        prefix++;
      }
      keys.forEach(key -> order.put(key, true));
      return prefix;
    }
  }
}
