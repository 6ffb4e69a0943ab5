package io.penstock.wire.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.TransportFailure.SendQueueOverrunException;
import io.penstock.wire.transport.frame.LedgerAllocator;
import io.rsocket.Closeable;
import io.rsocket.DuplexConnection;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.util.ByteBufPayload;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The real RSocket core over a simulated link, its timers included.
@Timeout(60)
class SimulatedLinkTest {
  private final LedgerAllocator ledger = new LedgerAllocator();

  @AfterEach
  void nothingIsHeld() {
    ledger.assertAllReturned();
  }

  @Test
  void sameSeed_sameTrace_otherSeeds_others() {
    Set<List<LinkEvent>> traces = new HashSet<>();
    for (int seed = 0; seed < 20; seed++) {
      List<LinkEvent> trace = new World(seed, LinkPlan.quiet()).stream(50).trace;
      assertThat(trace).hasSizeGreaterThan(50);
      assertThat(new World(seed, LinkPlan.quiet()).stream(50).trace).as("seed %d", seed).isEqualTo(trace);
      traces.add(trace);
    }
    assertThat(traces).hasSize(20);
  }

  @Test
  void quiet_deliversEverythingInOrder() {
    World world = new World(1, LinkPlan.quiet()).stream(500);

    assertThat(world.received).hasSize(500).isSorted();
    assertThat(world.ended).isEqualTo("complete");
  }

  @Test
  void byReference_deliversTheSendersOwnBuffers() {
    World world = new World(1, LinkPlan.quiet().withCopies(false)).stream(500);

    assertThat(world.received).hasSize(500).isSorted();
  }

  @Test
  void latency_delaysByNoLessAndNoMore() {
    World world = new World(3, LinkPlan.quiet().withLatency(Duration.ofMillis(10), Duration.ofMillis(20))).stream(1);

    // open, accept, request, one item: set-up and request travel together
    assertThat(world.endedAtNanos).isBetween(30_000_000L, 61_000_000L);
  }

  @Test
  void stall_holdsTheDirectionForItsPause() {
    LinkFault stall = new LinkFault.Stall(Direction.DOWN, 5, Duration.ofSeconds(3));
    World world = new World(1, LinkPlan.quiet().withFaults(stall)).stream(50);

    assertThat(world.received).hasSize(50).isSorted();
    assertThat(world.endedAtNanos).isBetween(3_000_000_000L, 3_100_000_000L);
  }

  @Test
  void cut_endsBothSidesAtThatFrame() {
    World world = new World(1, LinkPlan.quiet().withFaults(new LinkFault.Cut(Direction.DOWN, 5))).stream(50);

    assertThat(world.received).hasSizeLessThanOrEqualTo(5).isSorted();
    assertThat(world.ended).contains("ClosedChannelException");
  }

  @Test
  void corruptByte_turnsOneBitOfOneFrame() {
    World healthy = new World(1, LinkPlan.quiet()).stream(50);
    World corrupt =
        new World(1, LinkPlan.quiet().withFaults(new LinkFault.CorruptByte(Direction.DOWN, 7, 1_009))).stream(50);

    assertThat(corrupt.trace).hasSameSizeAs(healthy.trace);
    List<LinkEvent> differing = new ArrayList<>(corrupt.trace);
    differing.removeAll(healthy.trace);
    assertThat(differing).singleElement().satisfies(event -> {
      assertThat(event.direction()).isEqualTo(Direction.DOWN);
      assertThat(event.frame()).isEqualTo(7);
    });
  }

  @Test
  void halfClose_isHeardAsTheEnd() {
    World world = new World(1, LinkPlan.quiet().withFaults(new LinkFault.HalfClose(Direction.DOWN, 5))).stream(50);

    assertThat(world.received).hasSize(5);
    assertThat(world.ended).contains("ClosedChannelException");
  }

  @Test
  void keepAlive_runsInVirtualTime() {
    World world = new World(1, LinkPlan.quiet());
    world.connect();
    world.time.advance(Duration.ofSeconds(60));

    // A beat a second and its answer, both ways
    assertThat(world.trace.stream().filter(event -> event.bytes() == 14)).hasSize(4 * 59);
    world.close();
  }

  @Test
  void keepAlive_stalledBeyondItsLifetime_endsTheConnection() {
    LinkFault stall = new LinkFault.Stall(Direction.DOWN, 3, Duration.ofMinutes(5));
    World world = new World(1, LinkPlan.quiet().withFaults(stall));
    RSocket client = world.connect();
    List<String> why = new ArrayList<>();
    client.onClose().subscribe(nothing -> {}, failed -> why.add(failed.getMessage()), () -> why.add("complete"));
    world.time.advance(Duration.ofSeconds(60));

    assertThat(why).singleElement().asString().startsWith("No keep-alive acks for 5000 ms");
    world.close();
  }

  @Test
  void window_ofASlowReader_boundsWhatIsUnderWay() {
    SimulatedTime time = new SimulatedTime(1);
    LinkPlan plan = LinkPlan.quiet().withWindowBytes(100_000)
        .withLimits(ConnectionLimits.defaults().withMaxFrameBytes(1 << 16).withMaxQueuedBytes(1 << 20));
    SimulatedLink link = SimulatedLink.of(time, "slow", ledger, plan);
    List<DuplexConnection> ends = new ArrayList<>();
    link.server().start(connection -> {
      ends.add(connection);
      return connection.onClose();
    }).subscribe();
    link.client().connect().subscribe(ends::add);
    time.runUntilIdle();
    DuplexConnection client = ends.get(1);
    for (int i = 0; i < 100; i++) {
      client.sendFrame(1, ledger.directBuffer(10_000).writeZero(10_000));
    }
    time.runUntilIdle();

    assertThat(((ConnectionGauges) client).channelBytes()).isBetween(100_000L, 110_003L);
    assertThat(((ConnectionGauges) client).queuedFrames()).isEqualTo(90);

    List<Throwable> why = new ArrayList<>();
    client.onClose().subscribe(nothing -> {}, why::add);
    for (int i = 0; i < 20; i++) {
      client.sendFrame(1, ledger.directBuffer(10_000).writeZero(10_000));
    }
    assertThat(why).singleElement().isInstanceOf(SendQueueOverrunException.class);
    time.runUntilIdle();
  }

  @Test
  void connect_withoutServer_isRefused() {
    SimulatedTime time = new SimulatedTime(1);
    List<Throwable> why = new ArrayList<>();
    SimulatedLink.of(time, "none", ledger, LinkPlan.quiet()).client().connect().subscribe(c -> {}, why::add);
    time.runUntilIdle();

    assertThat(why).singleElement().isInstanceOf(ConnectException.class);
  }

  @Test
  void anyFault_atAnyFrame_leaksNothingAndEndsEveryStream() {
    for (int seed = 0; seed < 100; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      LinkPlan plan = LinkPlan.quiet().withCopies(random.nextBoolean())
          .withFaults(LinkFault.random(random, 40), LinkFault.random(random, 40));
      World world = new World(seed, plan).stream(30);
      assertThat(world.ended).as("seed %d, %s", seed, plan.faults()).isNotNull();
      ledger.assertAllReturned();
    }
  }

  /// A server of endless streams, one client, and what it saw.
  private final class World {
    final SimulatedTime time;
    final List<LinkEvent> trace = new ArrayList<>();
    final List<Integer> received = new ArrayList<>();
    String ended;
    long endedAtNanos;
    private final SimulatedLink link;
    private final SimulatedTime.CapturedDefaults captured;
    private Closeable server;
    private RSocket client;

    World(long seed, LinkPlan plan) {
      time = new SimulatedTime(seed);
      captured = time.captureDefaults();
      link = new SimulatedLink(time, "link", ledger, number -> plan, trace::add);
    }

    RSocket connect() {
      RSocketServer.create(SocketAcceptor.with(new Numbers())).payloadDecoder(PayloadDecoder.ZERO_COPY)
          .bind(link.server()).subscribe(bound -> server = bound);
      RSocketConnector.create().payloadDecoder(PayloadDecoder.ZERO_COPY)
          .keepAlive(Duration.ofSeconds(1), Duration.ofSeconds(5))
          .connect(link.client()).subscribe(connected -> client = connected, failed -> end("connect: " + failed));
      time.runUntil(() -> client != null || ended != null, Duration.ofMinutes(1));
      return client;
    }

    World stream(int items) {
      if (connect() != null) {
        client.requestStream(ByteBufPayload.create(ledger.directBuffer(4).writeInt(items)))
            .doOnDiscard(Payload.class, Payload::release)
            .limitRate(8)
            .subscribe(this::take, failed -> end(failed.toString()), () -> end("complete"));
        if (!time.runUntil(() -> ended != null, Duration.ofMinutes(10))) {
          ended = null;
        }
      }
      close();
      return this;
    }

    void close() {
      if (client != null) {
        client.dispose();
      }
      server.dispose();
      time.runUntilIdle();
      captured.close();
    }

    private void take(Payload payload) {
      received.add(payload.sliceData().readInt());
      payload.release();
    }

    private void end(String how) {
      ended = how;
      endedAtNanos = time.nanos();
    }
  }

  private final class Numbers implements RSocket {
    @Override
    public Flux<Payload> requestStream(Payload request) {
      ByteBuf data = request.sliceData();
      int items = data.readableBytes() < 4 ? 0 : data.readInt();
      request.release();
      return Flux.range(0, Math.floorMod(items, 1_000))
          .map(i -> ByteBufPayload.create(ledger.directBuffer(1_000 + 4).writeInt(i).writeZero(1_000)));
    }

    @Override
    public Mono<Void> fireAndForget(Payload payload) {
      payload.release();
      return Mono.empty();
    }
  }
}
