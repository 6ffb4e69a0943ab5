package io.penstock.lab.bench.cluster.scale;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.cluster.directory.AnnounceParts;
import io.penstock.cluster.directory.AnnounceTerms;
import io.penstock.cluster.directory.Announcer;
import io.penstock.cluster.directory.BlockNames;
import io.penstock.cluster.directory.Pace;
import io.penstock.cluster.directory.Rounds;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierListener;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import io.rsocket.transport.ClientTransport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A node: a tier, a server on the simulated network, and its announcements.
final class ModelNode {
  private static final int SLOTS = 32;
  private static final int WAITERS = 64;
  private static final int EVENTS = 1024;
  private static final long NAMES_PER_SECOND = 200_000;

  private final BlockTier tier;
  private final SimulatedLink link;
  private @Nullable KvServer server;
  private long frames;
  private int told;

  /// @param first number of the range that it has, before `end`
  /// @param room for blocks that are put
  ModelNode(String name, CacheSpace space, NumberedKeys keys, long first, long end, int room, SimulatedTime time) {
    StackOptions options = new StackOptions(name, StackOptions.defaults(name).mode(), SLOTS, SLOTS, SLOTS, SLOTS,
        SLOTS, StackOptions.defaults(name).policy(), WAITERS, EVENTS, false, StackOptions.defaults(name).tiering(),
        true, StackOptions.defaults(name).holds());
    this.tier = new RangeTier(new HostTier(space, room, options, TierListener.noop(),
        ChunkSource.ofSystem()), keys, first, end);
    this.link = new SimulatedLink(time, name, ByteBufAllocator.DEFAULT, number -> LinkPlan.quiet(), event -> frames++);
  }

  BlockTier tier() {
    return tier;
  }

  /// A way to this node.
  ClientTransport client() {
    return link.client();
  }

  /// Frames that came and went on all its connections.
  long frames() {
    return frames;
  }

  /// Whether all that it had at the start is told.
  boolean isWhole() {
    return told > 1; // the first time it tells that a round begins
  }

  Mono<Void> start(long generation, SimulatedTime time) {
    ByteBudget budget = new ByteBudget("node", 1 << 20, WAITERS);
    return KvServer.bind(link.server(), tier, KvServerOptions.builder().generation(generation).build(), budget,
        time.scheduler()).doOnNext(bound -> server = bound).then();
  }

  /// Announces what the tier has, and all that follows.
  Mono<Void> announce(ModelMap.Part map, BlockNames names, LongSupplier numbers, SimulatedTime time) {
    AnnounceTerms terms = AnnounceTerms.defaults();
    Rounds counted = (of, valid) -> map.tell(of, valid).doOnSuccess(done -> told++);
    return new Announcer(new AnnounceParts(map, names, counted,
        new Pace(NAMES_PER_SECOND, terms.batch(), time.scheduler()), terms, numbers, time.scheduler())).announce(tier);
  }

  Mono<Void> close() {
    KvServer bound = server;
    return tier.close().then(bound == null ? Mono.empty() : bound.close());
  }
}
