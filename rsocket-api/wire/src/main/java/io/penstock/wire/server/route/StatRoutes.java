package io.penstock.wire.server.route;

import io.penstock.tier.TierInfo;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.credit.NodeBudget;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.StatMessages;
import io.penstock.wire.report.CarriedBytes;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.RunningStreams;
import io.penstock.wire.server.space.ServedSpaces;
import io.rsocket.Payload;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The route `stat` on one connection of a node.
///
/// @param node name of the node
/// @param budget of the node
/// @param running streams of all connections
/// @param doors tells what the doors for other protocols did
public record StatRoutes(ServedSpaces spaces, String node, NodeBudget budget, RunningStreams running,
    BooleanSupplier draining, Supplier<List<ServerStat.Door>> doors) {
  Mono<Payload> stat(Call call) {
    TierInfo asked = spaces.of(call, "space", call.message(Messages.StatRequest.class).space()).info();
    return Flux.fromIterable(spaces.spaces().tiers())
        .concatMap(tier -> tier.stat().map(stat -> StatMessages.SpaceFigures.of(tier.info(), stat))).collectList()
        .map(all -> call.reply(reply(asked, all)));
  }

  private StatMessages.StatReply reply(TierInfo asked, List<StatMessages.SpaceFigures> all) {
    String id = asked.space().publicId();
    StatMessages.SpaceFigures own =
        all.stream().filter(space -> space.space().equals(id) && space.tier().equals(asked.name())).findFirst()
            .orElseThrow();
    CarriedBytes carried = running.carried();
    return new StatMessages.StatReply(node, own.tier(), own.medium(), own.stat(), budget.permits().inUse(),
        budget.permits().peak(), budget.permits().capacity(), budget.outgoingBytes(), draining.getAsBoolean(), all,
        new StatMessages.Moved(labelled(carried.in()), labelled(carried.out())),
        running.waitedMillis(), doorFigures());
  }

  private @Nullable List<StatMessages.DoorFigures> doorFigures() {
    List<ServerStat.Door> all = doors.get();
    return all.isEmpty()
        ? null
        : all.stream().map(door -> new StatMessages.DoorFigures(door.door(), door.address(), door.connections(),
            door.users())).toList();
  }

  private static Map<String, Long> labelled(Map<Carrier, Long> bytes) {
    Map<String, Long> labelled = new TreeMap<>();
    bytes.forEach((carrier, count) -> labelled.put(carrier.label(), count));
    return labelled;
  }
}
