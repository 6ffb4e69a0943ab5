package io.penstock.node.party;

import io.penstock.node.link.StreamTimes;
import io.penstock.node.tiers.Endings;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// Decode and prefill in this process, each with its own connection and event loop, and a node, or the nodes of a
/// cluster, that run already.
public final class ConnectedParties implements Parties {
  private static final Duration LAST_MOMENT = Duration.ofSeconds(5);

  private final PartyConnection decoding;
  private final PartyConnection prefilling;
  private final DecodeParty decode;
  private final PrefillParty prefill;
  private final Loops loops;
  private final String description;

  /// An event loop for each party.
  private record Loops(LoopResources decode, LoopResources prefill) {
    static Loops create() {
      return new Loops(LoopResources.create("penstock-decode", 1, true),
          LoopResources.create("penstock-prefill", 1, true));
    }

    Mono<Void> close() {
      return Mono.whenDelayError(decode.disposeLater(Duration.ZERO, LAST_MOMENT),
          prefill.disposeLater(Duration.ZERO, LAST_MOMENT));
    }
  }

  private ConnectedParties(String description, PartyConnection decoding, PartyConnection prefilling, Loops loops,
      TraceKeys keys,
      LongSupplier nanoClock) {
    this.description = description;
    this.decoding = decoding;
    this.prefilling = prefilling;
    this.loops = loops;
    this.decode = decoding.decode(keys, nanoClock);
    this.prefill = prefilling.prefill(keys);
  }

  /// Connects both parties to the node at `place`, over the transport that it names.
  public static Mono<ConnectedParties> open(String description, Endpoint place, FlowPlan plan, TraceKeys keys,
      LongSupplier nanoClock) {
    TcpClientOptions node = TcpClientOptions.to(place.address());
    return open(description,
        loops -> PartyConnection.decode(TcpTransport.client(place, node, loops, ConnectionListener.noop()), plan),
        loops -> PartyConnection.prefill(TcpTransport.client(place, node, loops, ConnectionListener.noop()), plan),
        keys,
        nanoClock);
  }

  /// Connects both parties to all nodes of a cluster.
  ///
  /// @param seeds any of its nodes
  /// @return cold; signals a failure of `io.penstock.wire.cluster.tier` if none of them answers
  public static Mono<ConnectedParties> openCluster(String description, List<Endpoint> seeds, FlowPlan plan,
      TraceKeys keys, LongSupplier nanoClock) {
    return open(description, loops -> PartyConnection.decode(seeds, loops, plan),
        loops -> PartyConnection.prefill(seeds, loops, plan), keys, nanoClock);
  }

  private static Mono<ConnectedParties> open(String description,
      Function<LoopResources, Mono<PartyConnection>> decode, Function<LoopResources, Mono<PartyConnection>> prefill,
      TraceKeys keys, LongSupplier nanoClock) {
    return Mono.defer(() -> {
      Loops loops = Loops.create();
      return decode.apply(loops.decode()).flatMap(decoding -> prefill.apply(loops.prefill())
          .map(prefilling -> new ConnectedParties(description, decoding, prefilling, loops, keys, nanoClock))
          .onErrorResume(error -> Endings.after(error, decoding.close())))
          .onErrorResume(error -> Endings.after(error, loops.close()));
    });
  }

  @Override
  public String description() {
    return "%s, %s".formatted(description, decoding.carriage());
  }

  /// The connection of the party that decodes.
  public PartyConnection decoding() {
    return decoding;
  }

  /// The connection of the party that prefills.
  public PartyConnection prefilling() {
    return prefilling;
  }

  @Override
  public Map<String, StreamTimes.Times> times() {
    Map<String, StreamTimes.Times> times = new TreeMap<>(decoding.times());
    times.putAll(prefilling.times());
    return times;
  }

  @Override
  public DecodeParty decode() {
    return decode;
  }

  @Override
  public PrefillParty prefill() {
    return prefill;
  }

  @Override
  public Mono<PartyStat> stat() {
    return Mono.zip(decode.stat(), prefill.stat(), decoding.nodeStat())
        .map(all -> all.getT1().plus(all.getT2()).plus(all.getT3()));
  }

  @Override
  public Mono<Void> close() {
    return Endings.inOrder(List.of(Mono.whenDelayError(decoding.close(), prefilling.close()), loops.close()));
  }
}
