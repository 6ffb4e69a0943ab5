package io.penstock.wire.server;

import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.ConnectionRate;
import io.penstock.wire.credit.Rates;
import io.penstock.wire.credit.SharedTimer;
import io.penstock.wire.credit.SilenceLimit;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.region.ConnectionRegions;
import io.penstock.wire.region.RegionRoutes;
import io.penstock.wire.security.Caller;
import io.penstock.wire.segment.ConnectionWrites;
import io.penstock.wire.server.call.CallClocks;
import io.penstock.wire.server.call.DrainGate;
import io.penstock.wire.server.call.HeldRights;
import io.penstock.wire.server.call.Requests;
import io.penstock.wire.server.call.RunningStreams;
import io.penstock.wire.server.call.StreamTickets;
import io.penstock.wire.server.route.ClusterRoutes;
import io.penstock.wire.server.route.DrainRoutes;
import io.penstock.wire.server.route.EventRoutes;
import io.penstock.wire.server.route.GetRoutes;
import io.penstock.wire.server.route.GetWaits;
import io.penstock.wire.server.route.HelloRoutes;
import io.penstock.wire.server.route.HoldRoutes;
import io.penstock.wire.server.route.LookUpRoutes;
import io.penstock.wire.server.route.NodeCarriers;
import io.penstock.wire.server.route.PutReceiver;
import io.penstock.wire.server.route.PutRoutes;
import io.penstock.wire.server.route.RankRoutes;
import io.penstock.wire.server.route.RingRoutes;
import io.penstock.wire.server.route.RouteGroups;
import io.penstock.wire.server.route.SegmentRoutes;
import io.penstock.wire.server.route.StatRoutes;
import io.penstock.wire.server.route.TierBlocks;
import io.penstock.wire.server.space.ConnectionHolds;
import io.penstock.wire.server.space.ServedSpaces;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/// What one connection of a server holds while it is open, and gives back when it is gone; makes its groups of routes.
final class ServedConnection {
  private final Serving serving;
  private final Object address;
  private final @Nullable Caller caller;
  private final FairShares.Share share;
  private final ServedSpaces spaces;
  private final HeldRights held;
  private final ConnectionRate rate;
  private final ConnectionHolds holds;
  private final NodeCarriers carriers;
  private final StreamTickets streams;
  private final ConnectionWrites writes;
  private final ConnectionRegions regions;
  /// Turns of this connection.
  private final Scheduler turns;
  /// Looks at streams that stand still.
  private final SharedTimer looks;
  private final AtomicBoolean gone = new AtomicBoolean();

  /// @param address of the peer, whose connections share
  /// @param caller null for a peer that may do everything
  /// @param process of the peer, as in [io.penstock.wire.transport.ConnectionGauges#peerProcess]
  ServedConnection(Serving serving, Object address, @Nullable Caller caller, long process) {
    KvServerOptions options = serving.options();
    this.serving = serving;
    this.address = address;
    this.caller = caller;
    this.share = serving.shares().enter(user(caller), address);
    this.spaces = caller == null ? serving.spaces() : serving.spaces().of(caller);
    this.held = caller == null ? HeldRights.fixed() : HeldRights.changing();
    this.rate = new ConnectionRate(options.rates(), serving.timers(), options.streams());
    this.holds = new ConnectionHolds(party());
    this.carriers = new NodeCarriers(options.carriers(), process);
    this.streams = new StreamTickets(options.maxStreams(), serving.running());
    this.writes = new ConnectionWrites(serving.writes());
    this.regions = new ConnectionRegions(options.regions(), process);
    this.turns = serving.turns().ofConnection();
    this.looks = new SharedTimer(serving.timers());
    serving.staging().enter();
  }

  private static @Nullable String user(@Nullable Caller caller) {
    return caller == null ? null : caller.user();
  }

  /// The party to whose share read leases and kept requests count: a user has one at each of its addresses.
  private Object party() {
    String user = user(caller);
    return user == null ? address : List.of(user, address);
  }

  Requests requests(String dataMimeType) {
    return new Requests(dataMimeType, serving.allocator(), share.requests(), rate, turns, held);
  }

  /// @param remote where the peer is, if its connection tells
  RouteGroups groups(@Nullable SocketAddress remote) {
    KvServerOptions options = serving.options();
    RunningStreams running = serving.running();
    DrainGate gate = new DrainGate(serving.draining());
    CallClocks clocks = new CallClocks(options.streams(), address, running, rate);
    Budget outgoing = rate.outgoing(share.outgoing(options.sendWindowBytes(), options.maxStreams()));
    Budget incoming = rate.incoming(share.incoming(options.maxStreams()));
    SilenceLimit.Rule reading = new SilenceLimit.Rule(options.stallTimeout(), serving.timers(), looks, share.gets());
    SilenceLimit.Rule writing = new SilenceLimit.Rule(options.stallTimeout(), serving.timers(), looks, share.puts());
    BudgetLane windows = share.windows(options.maxStreams());
    GetWaits waits = new GetWaits(reading, options.awaitTimeout());
    return new RouteGroups(gate,
        new HelloRoutes(spaces, carriers,
            new HelloRoutes.Node(options.node(), options.generation(), options.endpoints(),
                serving.disagg().generation()),
            remote),
        new LookUpRoutes(spaces, holds, gate, waits), new HoldRoutes(spaces, holds, turns),
        new StatRoutes(spaces, options.node(), serving.shares().budget(), running, serving.draining(),
            options.doors()),
        new EventRoutes(spaces, streams, serving.allocator(), options.generation()),
        new DrainRoutes(streams, carriers),
        new RingRoutes(spaces, carriers, running, new RingRoutes.Terms(options.rings(), options.ringSpin(),
            options.stallTimeout(), !options.rates().equals(Rates.none())),
            (tier, stat) -> new TierBlocks(tier, stat, serving.draining(),
                new TierBlocks.Heard(options.streams(), address, running.out())),
            held),
        new GetRoutes(spaces, holds, carriers, streams, clocks, gate, serving.disagg(), outgoing,
            waits, serving.allocator()),
        new PutRoutes(spaces, carriers, streams, clocks, gate,
            new PutReceiver.Bounds(incoming, windows, options.windowsAhead(), writing)),
        new SegmentRoutes(spaces, serving.segments(), writes, options.limits().maxSliceBytes(), outgoing, incoming,
            streams, reading, writing, serving.allocator(), clocks, carriers, serving.staging()),
        new RankRoutes(spaces, new RankRoutes.Source(party(), address, new Object(), user(caller)),
            serving.disagg(), options.generation(), serving.kept(), serving.timers()),
        new ClusterRoutes(spaces, serving.disagg().cluster(), serving.disagg().tasks()),
        new RegionRoutes(regions, spaces, streams, clocks,
            new RegionRoutes.Bounds(windows, incoming, outgoing, serving.timers())));
  }

  /// Ends what the caller has lost the right to: streams, leases, the read ring.
  void review() {
    held.review();
    holds.endWhere(tier -> spaces.lacks(Routes.GET, tier));
  }

  /// Gives everything back, once.
  void close() {
    streams.close();
    if (!gone.getAndSet(true)) {
      carriers.close(serving.running()::leaveRing);
      serving.staging().leave();
      serving.shares().leave(user(caller), address);
      holds.close();
      looks.close();
      writes.close();
      regions.close();
    }
  }
}
