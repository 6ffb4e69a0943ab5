package io.penstock.wire.server.route;

import io.penstock.carrier.NodeRing;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierStat;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.RingMessages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.HeldRights;
import io.penstock.wire.server.call.RunningStreams;
import io.penstock.wire.server.space.ServedSpaces;
import io.rsocket.Payload;
import java.time.Duration;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/// The route `ring` on one connection of a node: opens a read ring.
///
/// @param rings what the node allows
/// @param blocks what a ring reads from, in a tier with these figures
/// @param held ends a ring whose right is lost
public record RingRoutes(ServedSpaces spaces, NodeCarriers carriers, RunningStreams running, Terms rings,
    Blocks blocks, HeldRights held) {
  /// What a node allows its read rings.
  ///
  /// @param most rings of the node
  /// @param spin longest spin of a thread before it sleeps
  /// @param stall how long a client may leave an answer
  /// @param hasRates whether connections have rates, for which nothing that a ring moves waits
  public record Terms(int most, Duration spin, Duration stall, boolean hasRates) {
    private NodeRing.Terms of(TierStat stat, Duration wanted) {
      int leases = Math.clamp(TierBlocks.inMemory(stat) / 2 / most, 1, Integer.MAX_VALUE); // half of them, all together
      return new NodeRing.Terms(leases, stall, wanted.compareTo(spin) < 0 ? wanted : spin);
    }
  }

  /// Makes the source of a ring.
  public interface Blocks {
    TierBlocks of(BlockTier tier, TierStat stat);
  }

  Mono<Payload> ring(Call call) {
    RingMessages.RingRequest request = call.message(RingMessages.RingRequest.class);
    BlockTier tier = spaces.of(call, "space", request.space());
    carriers.sender(request.proof()); // compares the proof
    if (rings.hasRates()) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "read ring",
          "asked of a node without limits.requests and limits.bytes: connect without a ring, or with the carrier inline"
              + " as well",
          "asked of a node with rates");
    }
    return tier.stat().map(stat -> {
      NodeRing opened = open(request, tier, stat);
      Disposable unused = held.hold(call.rights(), lack -> carriers.closeRing(running::leaveRing));
      return call.reply(RingMessages.RingReply.of(opened.place()));
    });
  }

  private NodeRing open(RingMessages.RingRequest request, BlockTier tier, TierStat stat) {
    if (!running.tryEnterRing(rings.most())) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "read rings of the node", "<= " + rings.most(),
          "another");
    }
    try {
      TierBlocks from = blocks.of(tier, stat);
      return carriers.ring(process -> NodeRing.open(process, request.place(), tier.info().space().id(),
          tier.info().space().layout(), from, rings.of(stat, Duration.ofNanos(request.spinNanos()))));
    } catch (RuntimeException | Error e) {
      running.leaveRing();
      throw e;
    }
  }
}
