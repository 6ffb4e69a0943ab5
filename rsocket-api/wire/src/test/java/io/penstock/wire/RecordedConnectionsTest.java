package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.recording.MemoryRecording;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.check.LinkCheck;
import io.penstock.recording.check.RecordingVerifier;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.report.RecordedConnections;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.local.LocalTransport;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// Recordings of both ends of connections.
@Timeout(60)
final class RecordedConnectionsTest {
  private static final Duration PATIENCE = WireNode.PATIENCE;
  private static final CacheSpace SPACE = CacheSpace.of("m", BlockLayout.attention(3, 16, 2, 8, ElementType.FP32));
  private static final int BLOCKS = 24;

  private final LoopResources loops = LoopResources.create("recorded", 1, 2, true);
  private final Scheduler timers = Schedulers.newSingle("timers", true);
  private final MemoryRecording node = MemoryRecording.begin();
  private final MemoryRecording clients = MemoryRecording.begin();

  @AfterEach
  void end() {
    timers.dispose();
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  private static ConnectionListener into(MemoryRecording recording) {
    return RecordedConnections.of(ConnectionListener.noop(), recording.recorder());
  }

  /// Two clients put blocks and read them, side by side.
  private void run(ServerTransport<? extends Closeable> listening, Function<KvServer, ClientTransport> to) {
    HostTier tier = new HostTier(SPACE, 4 * BLOCKS, TierListener.noop());
    ByteBudget ingress = new ByteBudget("ingress", 1 << 20, 64);
    KvServer server =
        requireNonNull(KvServer.bind(listening, tier, WireNode.options(8), ingress, timers).block(PATIENCE));
    try {
      Flux.merge(use(to.apply(server), 0), use(to.apply(server), BLOCKS)).blockLast(PATIENCE);
    } finally {
      server.close().block(PATIENCE);
      tier.close().block(PATIENCE);
    }
  }

  private static Mono<Long> use(ClientTransport transport, int first) {
    SlabArena landed = new SlabArena("landed", SPACE.layout(), 32, 8);
    SlabArena produced = new SlabArena("produced", SPACE.layout(), 32, 8);
    ProducingSource source = new ProducingSource(produced, SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> Blocks.fill(key, range.offset(SPACE.layout()), memory));
    List<BlockKey> keys = Blocks.keys(SPACE, first, first + BLOCKS);
    return Mono.usingWhen(
        KvClient.connect(transport, WireNode.asking(8).build(), SPACE, landed, new ByteBudget("client", 1 << 20, 64)),
        client -> client.put(keys, source).then(Flux.using(BlockScope::new,
            scope -> client.lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> lease.slices(scope)).map(slice -> {
              slice.spans().forEach(Blocks::assertBytes);
              slice.close();
              return slice;
            }), BlockScope::close).count()),
        KvClient::close).doFinally(signal -> {
          landed.close();
          produced.close();
        });
  }

  private void overSockets() {
    run(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops, into(node)),
        server -> TcpTransport.client(TcpClientOptions.to("127.0.0.1", ((TcpListener) server.listening()).port()),
            loops, into(clients)));
  }

  @Test
  void whatOneEndSent_theOtherReceived_inOrder() {
    overSockets();

    List<LinkCheck.Pair> pairs = LinkCheck.of(clients.events().iterator(), node.events().iterator());

    assertThat(pairs).hasSize(2).allSatisfy(pair -> {
      assertThat(pair.difference()).isEmpty();
      assertThat(pair.compared()).isGreaterThan(2L * BLOCKS / 8);
    });
    assertThat(pairs).extracting(LinkCheck.Pair::other).doesNotHaveDuplicates();
    assertThat(pairs.stream().mapToLong(LinkCheck.Pair::compared).sum()).as("all that the node received")
        .isGreaterThanOrEqualTo(messages(node.events(), 3));
  }

  private static long messages(List<RecordedEvent> events, long direction) {
    return events.stream().filter(event -> event.kind() == Kind.LINK && event.number(1) == direction).count();
  }

  @Test
  void insideAProcess_endsAreFoundByTheirMessages() {
    String name = "recorded-connections";
    run(LocalTransport.server(name, ConnectionLimits.defaults(), loops, into(node)),
        server -> LocalTransport.client(name, ConnectionLimits.defaults(), loops, into(clients)));

    assertThat(LinkCheck.of(clients.events().iterator(), node.events().iterator())).hasSize(2)
        .allSatisfy(pair -> assertThat(pair.difference()).isEmpty());
  }

  @Test
  void messagesInAnotherOrder_areFound_andMissingOnesAreCounted() {
    overSockets();
    List<RecordedEvent> swapped = new ArrayList<>(node.events());
    List<RecordedEvent> lacking = new ArrayList<>(swapped);
    int request = first(swapped, Routes.PUT);
    int demand = first(swapped.subList(request, swapped.size()), "payload") + request;
    // The text and bytes of the two are exchanged, their sequence numbers stay
    Collections.swap(swapped, request, demand);
    swapped.set(request, numbered(swapped.get(request), lacking.get(request)));
    swapped.set(demand, numbered(swapped.get(demand), lacking.get(demand)));
    lacking.remove(request);

    assertThat(LinkCheck.of(clients.events().iterator(), swapped.iterator()))
        .anySatisfy(pair -> assertThat(pair.difference()).hasValueSatisfying(
            words -> assertThat(words).contains("was sent as request_channel " + Routes.PUT, "received as payload")));
    assertThat(LinkCheck.of(clients.events().iterator(), lacking.iterator()))
        .allSatisfy(pair -> assertThat(pair.difference()).isEmpty())
        .anySatisfy(pair -> assertThat(pair.unseen()).isPositive());
  }

  /// The event of `content`, in the place of `place`.
  private static RecordedEvent numbered(RecordedEvent content, RecordedEvent place) {
    return new RecordedEvent(Kind.LINK, place.begins(), place.at(), 0, 0, new long[] {place.number(0), place.number(1),
      place.number(2), content.number(3), content.number(4), content.number(5)}, List.of(), content.text());
  }

  /// A message that the node received.
  private static int first(List<RecordedEvent> events, String word) {
    for (int i = 0; i < events.size(); i++) {
      RecordedEvent event = events.get(i);
      if (event.kind() == Kind.LINK && event.number(1) == 3 && event.text().contains(word)) {
        return i;
      }
    }
    throw new AssertionError("a message with " + word + " must be recorded (was not)");
  }

  @Test
  void streamsAreFlows_namedAsTheirRoute_withTheirLink() {
    overSockets();

    for (MemoryRecording recording : List.of(node, clients)) {
      List<RecordedEvent> events = recording.events();
      assertThat(events).filteredOn(event -> event.kind() == Kind.FLOW).extracting(RecordedEvent::text)
          .contains(Routes.GET, Routes.PUT, Routes.PUT + " (asked)");
      assertThat(events).filteredOn(event -> event.kind() == Kind.FLOW).extracting(event -> event.number(0))
          .contains(1L, 2L).doesNotContain(0L);
      assertThat(sum(events, Routes.GET, Kind.FLOW_NEXT)).isPositive()
          .isLessThanOrEqualTo(demand(events, Routes.GET));
      assertThat(sum(events, Routes.PUT + " (asked)", Kind.FLOW_NEXT)).isPositive()
          .isLessThanOrEqualTo(demand(events, Routes.PUT + " (asked)"));
      assertThat(events).filteredOn(event -> event.kind() == Kind.LINK && event.number(1) == 1)
          .extracting(RecordedEvent::text).containsExactly("", "");
    }
  }

  private static List<Long> flows(List<RecordedEvent> events, String name) {
    return events.stream().filter(event -> event.kind() == Kind.FLOW && event.text().equals(name))
        .map(RecordedEvent::flow).toList();
  }

  private static long sum(List<RecordedEvent> events, String name, Kind kind) {
    List<Long> flows = flows(events, name);
    return events.stream().filter(event -> event.kind() == kind && flows.contains(event.flow())).count();
  }

  private static long demand(List<RecordedEvent> events, String name) {
    List<Long> flows = flows(events, name);
    return events.stream().filter(event -> event.kind() == Kind.FLOW_REQUEST && flows.contains(event.flow()))
        .mapToLong(event -> event.number(0)).sum();
  }
}
