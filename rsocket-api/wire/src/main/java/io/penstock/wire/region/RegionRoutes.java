package io.penstock.wire.region;

import io.penstock.block.BlockKey;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.BlockTier;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SessionMessages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.security.Role;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.CallClocks;
import io.penstock.wire.server.call.StreamTickets;
import io.penstock.wire.server.space.ServedSpaces;
import io.penstock.wire.slice.InFlight;
import io.rsocket.Payload;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The routes `region`, `store` and `load` on one connection of a node.
public record RegionRoutes(ConnectionRegions regions, ServedSpaces spaces, StreamTickets streams, CallClocks clocks,
    Bounds bounds) {
  /// What the requests of a connection share with its puts and gets.
  ///
  /// @param windows blocks that open windows of the connection may have
  public record Bounds(BudgetLane windows, Budget incoming, Budget outgoing, Scheduler timers) {}

  private RegionFolder folder(Call call) {
    RegionFolder folder = regions.folder();
    if (folder == null) {
      throw new WireFormatException(ErrorCode.UNKNOWN_ROUTE, "route", "one that is served by request/response",
          call.route());
    }
    return folder;
  }

  /// Maps a region.
  public Mono<Payload> region(Call call) {
    RegionFolder folder = folder(call);
    RegionMessages.RegionRequest asked = call.message(RegionMessages.RegionRequest.class);
    BlockTier tier = spaces.of(call, "space", asked.space());
    return Mono.fromSupplier(
        () -> call.reply(regions.map(folder, asked, tier.info().space().layout().blockBytes())))
        .subscribeOn(folder.copies());
  }

  /// Stores the bytes of slots.
  public Mono<Payload> store(Call call) {
    return run(call, bounds.incoming, clocks::incoming, job -> new SlotStore(job).reply());
  }

  /// Copies blocks to slots.
  public Mono<Payload> load(Call call) {
    return run(call, bounds.outgoing, clocks::outgoing, job -> new SlotLoad(job).reply());
  }

  private Mono<Payload> run(Call call, Budget budget, Function<Call, StreamClock> clocked,
      Function<SlotJob, Mono<RegionMessages.SlotsReply>> work) {
    RegionFolder folder = folder(call);
    RegionMessages.SlotsRequest asked = call.message(RegionMessages.SlotsRequest.class);
    ClientRegion region = regions.region(asked.region());
    SlotJob.Wanted wanted = wanted(call, asked, region);
    SlotJob.Terms terms = new SlotJob.Terms(folder.copies(), bounds.timers, bounds.windows, budget,
        spaces.limits().maxSliceBytes(), spaces.limits().windowBlocks());
    InFlight inFlight = streams.enter(asked.ticket());
    StreamClock clock = clocked.apply(call);
    return clock.over(Flux.using(inFlight::openScope,
        scope -> work.apply(new SlotJob(wanted, region, terms, inFlight, scope, call.rights()::requireAll, clock))
            .map(call::reply).subscribeOn(folder.copies()),
        scope -> {
          scope.close();
          inFlight.over();
        })).next();
  }

  private SlotJob.Wanted wanted(Call call, RegionMessages.SlotsRequest asked, ClientRegion region) {
    BlockTier tier = spaces.of(call, asked.keys());
    List<BlockKey> keys = spaces.keys(asked.keys(), tier);
    region.requireFits(tier.info().space().layout().blockBytes());
    int[] slots = asked.numbers(keys.size(), region.slots());
    if (call.route().equals(Routes.LOAD) && Arrays.stream(slots).distinct().count() < slots.length) {
      throw WireFormatException.request("slots", "distinct in load", "such as repeat");
    }
    SessionUse session = SessionMessages.Named.use(asked.session());
    if (session != null) { // its blocks stay, and others leave
      spaces.require(call, Role.WRITER, call.route() + " with a session", tier);
    }
    return new SlotJob.Wanted(tier, keys, slots, asked.millis(), session);
  }
}
