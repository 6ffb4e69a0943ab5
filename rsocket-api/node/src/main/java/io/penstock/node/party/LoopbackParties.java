package io.penstock.node.party;

import static java.util.Objects.requireNonNull;

import io.penstock.device.ascend.AscendListener;
import io.penstock.node.link.StreamTimes;
import io.penstock.node.tiers.Endings;
import io.penstock.node.tiers.NodeMemory;
import io.penstock.node.tiers.NodeTiers;
import io.penstock.node.tiers.TierPlan;
import io.penstock.node.tiers.TierRecording;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierListener;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// A node in this process, and decode and prefill connected to it over real sockets of the loopback interface. Each
/// party has an event loop of its own, and the node one or more.
public final class LoopbackParties implements Parties {
  private static final String HOST = "127.0.0.1";
  private static final int WAITERS = 4096;
  private static final Duration QUIET = Duration.ZERO;
  private static final Duration LAST_MOMENT = Duration.ofSeconds(5);

  private final NodeTiers tier;
  private final @Nullable TierRecording recording;
  private final LoopResources nodeLoops;
  private final ByteBudget budget;
  private @Nullable KvServer server;
  private @Nullable ConnectedParties clients;

  private LoopbackParties(FlowPlan plan, NodeTiers tier, @Nullable TierRecording recording, int loops) {
    this.recording = recording;
    this.nodeLoops = LoopResources.create("penstock-node", loops, true);
    this.tier = tier;
    this.budget = new ByteBudget("budget of node", plan.nodeBudgetBytes(), WAITERS);
  }

  /// Starts a node and connects both parties to it.
  ///
  /// @param timers for time limits of the node
  public static Mono<LoopbackParties> open(FlowPlan plan, TierPlan tiers, TraceKeys keys, Scheduler timers,
      LongSupplier nanoClock) {
    return open(plan, tiers, keys, timers, nanoClock, null, 1);
  }

  /// @param recording of what happens to the tiers of the node; ends before they are closed. Null for none
  /// @param loops network loops of the node, among which its connections are divided
  public static Mono<LoopbackParties> open(FlowPlan plan, TierPlan tiers, TraceKeys keys, Scheduler timers,
      LongSupplier nanoClock, @Nullable TierRecording recording, int loops) {
    return NodeTiers.open(tiers, NodeMemory.of(tiers), TierListener.noop(), AscendListener.noop(), Sampling.none(),
        recording).doOnError(error -> end(recording))
        .flatMap(tier -> on(tier, plan, keys, timers, nanoClock, recording, loops));
  }

  /// Starts a node on `tier`, which it closes, and connects both parties to it.
  public static Mono<LoopbackParties> on(NodeTiers tier, FlowPlan plan, TraceKeys keys, Scheduler timers,
      LongSupplier nanoClock, @Nullable TierRecording recording, int loops) {
    LoopbackParties parties = new LoopbackParties(plan, tier, recording, loops);
    return parties.start(plan, keys, timers, nanoClock).onErrorResume(error -> Endings.after(error, parties.close()));
  }

  private static void end(@Nullable TierRecording recording) {
    if (recording != null) {
      recording.close();
    }
  }

  private Mono<LoopbackParties> start(FlowPlan plan, TraceKeys keys, Scheduler timers, LongSupplier nanoClock) {
    KvServerOptions options = KvServerOptions.defaults().withNode("replay")
        .withLimits(Limits.defaults().withMaxSliceBytes(plan.sliceBytes()).withWindowBlocks(plan.windowBlocks()));
    return KvServer.bind(TcpTransport.server(TcpServerOptions.on(HOST, 0), nodeLoops), tier, options, budget, timers)
        .doOnNext(bound -> server = bound)
        .flatMap(bound -> ConnectedParties.open("one process, loopback TCP",
            ((TcpListener) bound.listening()).endpoint(), plan, keys, nanoClock))
        .map(connected -> {
          clients = connected;
          return this;
        });
  }

  @Override
  public String description() {
    return connected().description();
  }

  @Override
  public Map<String, StreamTimes.Times> times() {
    return connected().times();
  }

  @Override
  public Map<String, String> troubles() {
    return tier.troubles();
  }

  @Override
  public DecodeParty decode() {
    return connected().decode();
  }

  @Override
  public PrefillParty prefill() {
    return connected().prefill();
  }

  @Override
  public Mono<PartyStat> stat() {
    return connected().stat();
  }

  @Override
  public Mono<Void> close() {
    return Endings.inOrder(List.of(
        Mono.defer(() -> clients == null ? Mono.empty() : clients.close()),
        Mono.defer(() -> server == null ? Mono.empty() : server.close()),
        Mono.fromRunnable(() -> end(recording)),
        tier.close(),
        nodeLoops.disposeLater(QUIET, LAST_MOMENT)));
  }

  /// The parties that are connected to the node.
  public ConnectedParties connected() {
    return requireNonNull(clients, "open() completes when connected");
  }
}
