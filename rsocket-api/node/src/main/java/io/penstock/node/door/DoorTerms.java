package io.penstock.node.door;

import static java.util.Objects.requireNonNull;

import io.penstock.node.config.NodeConfig;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.transport.Endpoint;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// What a node gives to a door. All of it stays the node's.
///
/// @param listen where clients connect: TCP, port 0 for any free one, or a Unix domain socket
/// @param config of the node, for the door's own settings
/// @param tls null for connections without
/// @param access the node's users and their roles in spaces
/// @param spaces where values are stored
/// @param uses what the door counts for metrics and probes
/// @param generation number of this start of the node
/// @param threads on which a door works
/// @param clocks by which it measures
public record DoorTerms(Endpoint listen, NodeConfig config, @Nullable ServerTls tls, Access access, DoorSpaces spaces,
    DoorUses uses, long generation, Threads threads, Clocks clocks) {
  public DoorTerms {
    requireNonNull(listen, "listen");
    requireNonNull(config, "config");
    requireNonNull(access, "access");
    requireNonNull(spaces, "spaces");
    requireNonNull(uses, "uses");
    requireNonNull(threads, "threads");
    requireNonNull(clocks, "clocks");
  }

  /// @param loops of the node's connections
  /// @param timers for what is done after a while; never used for work
  /// @param decisions for requests of many keys, which would keep an event loop from others
  /// @param passwords compares passwords, each for a good part of a second
  public record Threads(LoopResources loops, Scheduler timers, Scheduler decisions, Scheduler passwords) {
    public Threads {
      requireNonNull(loops, "loops");
      requireNonNull(timers, "timers");
      requireNonNull(decisions, "decisions");
      requireNonNull(passwords, "passwords");
    }
  }

  /// @param wall for times that clients see
  /// @param nanos for durations
  public record Clocks(InstantSource wall, LongSupplier nanos) {
    public Clocks {
      requireNonNull(wall, "wall");
      requireNonNull(nanos, "nanos");
    }
  }
}
