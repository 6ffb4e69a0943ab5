package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.flow.EngineRows;
import io.penstock.meter.PenstockMeters;
import io.penstock.testkit.Blocks;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierStat;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.Endpoint;
import io.rsocket.exceptions.CustomRSocketException;
import io.rsocket.frame.FrameType;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/// A node and a client that choose all their parts.
@Timeout(60)
final class PenstockNodeTest {
  private static final Duration PATIENCE = WireNode.PATIENCE;
  private static final CacheSpace SPACE = CacheSpace.of("m", BlockLayout.attention(3, 16, 2, 8, ElementType.FP32));
  private static final int TOKENS = 16 * 20 + 5;

  /// Rows of an engine.
  private static final class Cache {
    private final int rowBytes = SPACE.layout().rowBytes(0);
    private final MemorySegment memory = Arena.ofAuto().allocate(3L * 2 * TOKENS * rowBytes);

    MemorySegment row(int layer, int plane, int token) {
      return memory.asSlice((((long) layer * 2 + plane) * TOKENS + token) * rowBytes, rowBytes);
    }

    Cache random(long seed) {
      Random random = new Random(seed);
      for (long i = 0; i < memory.byteSize(); i += Integer.BYTES) {
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, i, random.nextInt());
      }
      return this;
    }
  }

  @Test
  void rowsOfAnEngine_comeBackAsTheyWere_asFarAsBlocksAreWhole() {
    int[] prompt = new Random(1).ints(TOKENS, 0, 1000).toArray();
    PenstockNode node = requireNonNull(PenstockNode.start(SPACE, 100).block(PATIENCE));
    PenstockClient client = requireNonNull(PenstockClient.connect(node.address(), SPACE).block(PATIENCE));
    Cache there = new Cache().random(2);
    Cache here = new Cache();

    assertThat(client.load(prompt, here::row).block(PATIENCE)).isZero();
    assertThat(client.offload(prompt, there::row).block(PATIENCE)).isEqualTo(20);
    assertThat(client.offload(prompt, there::row).block(PATIENCE)).as("the node has them").isZero();
    assertThat(client.load(prompt, here::row).block(PATIENCE)).isEqualTo(320);

    for (int layer = 0; layer < 3; layer++) {
      for (int plane = 0; plane < 2; plane++) {
        for (int token = 0; token < TOKENS; token++) {
          assertThat(here.row(layer, plane, token).mismatch(token < 320
              ? there.row(layer, plane, token)
              : new Cache().row(layer, plane, token))).isEqualTo(-1);
        }
      }
    }
    assertThat(node.toString()).isEqualTo("node " + node.address()
        + ", budget node: 0 of 67108864 bytes in flight, 0 calls wait");
    client.close().block(PATIENCE);
    node.close().block(PATIENCE);
    assertThatThrownBy(() -> PenstockClient.connect(node.address(), SPACE).block(PATIENCE))
        .isInstanceOf(ConnectionLostException.class);
  }

  static Stream<Throwable> thrownByAnEngine() {
    return Stream.of(new IndexOutOfBoundsException("page gone"), new IllegalStateException("page gone"),
        new UncheckedIOException(new ClosedChannelException()), new CustomRSocketException(0x1001, "of another link"),
        FrameTypes.unknown());
  }

  /// Errors as RSocket's reader makes them: their stack says so.
  private static final class FrameTypes {
    static IllegalArgumentException unknown() {
      try {
        throw new IllegalStateException("not reached: " + FrameType.fromEncodedType(19));
      } catch (IllegalArgumentException e) {
        return e;
      }
    }
  }

  @ParameterizedTest
  @MethodSource("thrownByAnEngine")
  void whatAnEngineThrows_endsItsCallAlone_asItIs(Throwable thrown) {
    List<Throwable> dropped = new CopyOnWriteArrayList<>();
    Hooks.onErrorDropped(dropped::add);
    PenstockNode node = requireNonNull(PenstockNode.start(SPACE, 100).block(PATIENCE));
    PenstockClient client = requireNonNull(PenstockClient.connect(node.address(), SPACE).block(PATIENCE));
    try {
      Cache there = new Cache().random(2);
      int[] prompt = new int[TOKENS];
      int[] other = new Random(3).ints(TOKENS, 0, 9).toArray();
      assertThat(client.offload(prompt, there::row).block(PATIENCE)).isEqualTo(20);
      long held = requireNonNull(node.tier().stat().block(PATIENCE)).claimedBytes();
      EngineRows throwing = (layer, plane, token) -> {
        if (layer == 1) {
          throw sneaky(thrown);
        }
        return there.row(layer, plane, token);
      };

      for (int round = 0; round < 2; round++) { // the second one finds the keys free: the first put was given up
        client.offload(other, throwing).as(StepVerifier::create)
            .verifyErrorSatisfies(error -> assertThat(error).isSameAs(thrown));
        client.load(prompt, throwing).as(StepVerifier::create)
            .verifyErrorSatisfies(error -> assertThat(error).isSameAs(thrown));
        node.tier().stat().map(TierStat::claimedBytes).filter(bytes -> bytes == held)
            .repeatWhenEmpty(empty -> empty.delayElements(Duration.ofMillis(2))).block(PATIENCE);
      }

      assertThat(client.tier().info().name()).isEqualTo("remote penstock");
      assertThat(client.load(prompt, there::row).block(PATIENCE)).isEqualTo(320);
      assertThat(client.offload(other, there::row).block(PATIENCE)).isEqualTo(20);
      assertThat(dropped).isEmpty();
    } finally {
      client.close().block(PATIENCE);
      node.close().block(PATIENCE);
      Hooks.resetOnErrorDropped();
    }
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> RuntimeException sneaky(Throwable thrown) throws E {
    throw (E) thrown;
  }

  private static PenstockNode restarted(PenstockNode node, CacheSpace space) {
    Endpoint at = Endpoint.parse(node.address());
    node.close().block(PATIENCE);
    return requireNonNull(PenstockNode.start(PenstockNode.Options.of(space, 100).withAddress("127.0.0.1", at.port()))
        .block(PATIENCE));
  }

  @Test
  void clientOfANodeThatRestarted_connectsAgainAtTheNextCall() {
    PenstockNode node = requireNonNull(PenstockNode.start(SPACE, 100).block(PATIENCE));
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    PenstockClient client = requireNonNull(PenstockClient.connect(node.address(), PenstockClient.Options.of(SPACE)
        .withMeters(new MeteredWire(PenstockMeters.in(meters)))).block(PATIENCE));
    Cache there = new Cache().random(2);
    int[] prompt = new int[TOKENS];
    assertThat(client.offload(prompt, there::row).block(PATIENCE)).isEqualTo(20);
    Mono<Integer> load = client.load(prompt, there::row);
    TierHolds holds = client.tier().holds(this);
    List<BlockKey> keys = SPACE.keys(prompt);
    StepVerifier events = client.tier().follow().takeUntil(event -> false).as(StepVerifier::create)
        .thenConsumeWhile(event -> true).expectError(ConnectionLostException.class).verifyLater();

    String address = node.address();
    node.close().block(PATIENCE);
    events.verify(PATIENCE);
    assertThatThrownBy(() -> load.block(PATIENCE)).isInstanceOf(ConnectionLostException.class)
        .hasMessage("no node is listening at " + address);

    PenstockNode again = restarted(node, SPACE);
    List<Integer> side = Flux.range(0, 8).flatMap(i -> client.tier().match(keys)).collectList().block(PATIENCE);
    assertThat(side).as("calls side by side").containsOnly(0).hasSize(8);
    assertThat(meters.get("penstock.wire.connects").tag("transport", "tcp").counter().count())
        .as("the first connection, and one for all calls").isEqualTo(2);
    assertThat(load.block(PATIENCE)).as("an earlier call, subscribed again").isZero();
    assertThat(client.offload(prompt, there::row).block(PATIENCE)).isEqualTo(20);
    assertThat(load.block(PATIENCE)).isEqualTo(320);
    assertThat(holds.pin(keys, Pin.hard()).block(PATIENCE)).hasSize(20).containsOnly(KeyOutcome.OK);
    assertThatThrownBy(() -> client.tier().match(List.of(Blocks.key(Blocks.smallSpace(), 7))))
        .as("at call time").isInstanceOf(IllegalArgumentException.class);

    PenstockNode other = restarted(again, SPACE.withFingerprint("other weights"));
    assertThatThrownBy(() -> load.block(PATIENCE)).isInstanceOf(RemotePermanentException.class)
        .hasMessageContaining("fingerprint");

    client.close().block(PATIENCE);
    assertThatThrownBy(() -> load.block(PATIENCE)).isInstanceOf(TierClosedException.class);
    other.close().block(PATIENCE);
  }

  @Test
  void nodeAndClient_showThemselvesInTheirRegistries() {
    SimpleMeterRegistry ofNode = new SimpleMeterRegistry();
    SimpleMeterRegistry ofClient = new SimpleMeterRegistry();
    List<String> routes = new CopyOnWriteArrayList<>();
    PenstockNode node = requireNonNull(PenstockNode.start(PenstockNode.Options.of(SPACE, 100)
        .withServer(KvServerOptions.builder().streams(stream -> routes.add(stream.route())).build())
        .withMeters(new MeteredWire(PenstockMeters.in(ofNode)))).block(PATIENCE));
    PenstockClient client = requireNonNull(PenstockClient.connect(node.address(), PenstockClient.Options.of(SPACE)
        .withMeters(new MeteredWire(PenstockMeters.in(ofClient)))).block(PATIENCE));
    Cache there = new Cache().random(2);
    int[] prompt = new int[TOKENS];
    assertThat(client.offload(prompt, there::row).block(PATIENCE)).isEqualTo(20);
    assertThat(client.load(prompt, there::row).block(PATIENCE)).isEqualTo(320);
    client.close().block(PATIENCE);
    node.close().block(PATIENCE); // each stream has ended, and was told

    double bytes = 20.0 * SPACE.layout().blockBytes();
    for (SimpleMeterRegistry registry : List.of(ofNode, ofClient)) {
      for (String route : List.of("put", "get")) {
        assertThat(registry.find("penstock.stream.carried").tag("route", route).counters().stream()
            .mapToDouble(Counter::count).sum()).as(route).isEqualTo(bytes);
      }
      assertThat(registry.find("penstock.wire.connects").counters().stream().mapToDouble(Counter::count).sum())
          .isEqualTo(1);
    }
    assertThat(ofNode.get("penstock.tier.stored").tag("tier", "dram").counter().count()).isEqualTo(20);
    assertThat(ofNode.get("penstock.budget.capacity").tag("budget", "node").gauge().value()).isEqualTo(64 << 20);
    assertThat(ofClient.get("penstock.arena.claimed").tag("arena", "loads").gauge().value()).isZero();
    assertThat(ofClient.get("penstock.budget.capacity").tag("budget", "client").gauge().value()).isPositive();
    assertThat(routes).as("the listener of the options hears, too").containsExactly("put", "get");
  }

  @Test
  void closeOfAClient_endsItsAttemptToConnectAgain() throws Exception {
    PenstockNode node = requireNonNull(PenstockNode.start(SPACE, 100).block(PATIENCE));
    PenstockClient client = requireNonNull(PenstockClient.connect(node.address(), SPACE).block(PATIENCE));
    Endpoint at = Endpoint.parse(node.address());
    node.close().block(PATIENCE);
    try (ServerSocket silent = new ServerSocket()) { // accepts connections, and says nothing
      silent.setReuseAddress(true);
      silent.bind(new InetSocketAddress("127.0.0.1", at.port()));
      CompletableFuture<Integer> load = client.load(new int[TOKENS], new Cache()::row).toFuture();
      try (Socket peer = silent.accept()) {
        assertThat(peer.isConnected()).isTrue();
        assertThat(load).isNotDone();

        client.close().block(PATIENCE);

        assertThat(load).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(TierClosedException.class);
      }
    }
  }

  @Test
  void otherFingerprint_isRefusedByItsName() {
    CacheSpace old = SPACE.withFingerprint("sha256:1");
    PenstockNode node = requireNonNull(PenstockNode.start(old, 4).block(PATIENCE));

    assertThatThrownBy(() -> PenstockClient.connect(node.address(), SPACE.withFingerprint("sha256:2")).block(PATIENCE))
        .isInstanceOf(RemotePermanentException.class).hasMessageContaining("fingerprint")
        .hasMessageContaining("sha256:1").hasMessageContaining("sha256:2");
    requireNonNull(PenstockClient.connect(node.address(), old).block(PATIENCE)).close().block(PATIENCE);
    node.close().block(PATIENCE);
  }

  @Test
  void cancelAfterTheNodeAndTheClientWereHandedOver_closesNeither() {
    CacheSpace space = CacheSpace.of("kept", BlockLayout.attention(2, 16, 1, 64, ElementType.BF16));
    PenstockNode node = requireNonNull(PenstockNode.start(space, 8).flux().blockFirst(PATIENCE));
    PenstockClient client =
        requireNonNull(PenstockClient.connect(node.address(), space).flux().blockFirst(PATIENCE));

    assertThat(client.tier().match(space.keys(new int[32])).block(PATIENCE)).isZero();

    client.close().block(PATIENCE);
    node.close().block(PATIENCE);
  }
}
