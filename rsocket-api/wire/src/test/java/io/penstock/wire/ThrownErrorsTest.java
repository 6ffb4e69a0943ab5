package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.KvException;
import io.penstock.PermanentKvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Eventually;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.WireFailure.ConnectTimeoutException;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// Reactor throws a linkage error where it met it, in place of signalling it. On the wire it ends what it belongs to:
/// a request, not the connection, and no caller waits for ever.
@Timeout(60)
final class ThrownErrorsTest {
  private static final Duration PATIENCE = WireNode.PATIENCE;
  private static final CacheSpace SPACE = CacheSpace.of("errors", BlockLayout.attention(2, 4, 1, 16, ElementType.BF16));
  private static final int[] TOKENS = IntStream.range(0, 16).toArray();

  private final LoopResources loops = LoopResources.create("errors", 1, 1, true);
  private final Scheduler timers = Schedulers.newSingle("timers", true);
  private final HostTier tier = new HostTier(SPACE, 64, TierListener.noop());
  private final MemorySegment row = Arena.ofAuto().allocate(32);
  private volatile String broken = "";
  private final KvServer server = requireNonNull(KvServer.bind(
      TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops), breakable(), KvServerOptions.defaults(),
      new ByteBudget("node", 64 << 20, 64), timers).block(PATIENCE));
  private final PenstockClient client = requireNonNull(
      PenstockClient.connect("127.0.0.1:" + ((TcpListener) server.listening()).port(), SPACE).block(PATIENCE));

  /// A tier one of whose methods throws.
  private BlockTier breakable() {
    return (BlockTier) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {BlockTier.class},
        (proxy, method, arguments) -> {
          if (method.getName().equals(broken)) {
            throw new NoSuchFieldError("POJO");
          }
          try {
            return method.invoke(tier, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }

  @AfterEach
  void close() {
    client.close().block(PATIENCE);
    server.close().block(PATIENCE);
    tier.close().block(PATIENCE);
    timers.dispose();
    loops.dispose();
  }

  @Test
  void errorInTheNode_endsTheRequest_andTheConnectionGoesOn() {
    List<BlockKey> keys = SPACE.keys(TOKENS);
    broken = "match";
    assertThatThrownBy(() -> client.tier().match(keys).block(PATIENCE)).isInstanceOf(PermanentKvException.class);
    broken = "contains";
    assertThatThrownBy(() -> client.tier().contains(keys).block(PATIENCE)).isInstanceOf(PermanentKvException.class);
    broken = "tryGet";
    try (BlockScope scope = new BlockScope()) {
      assertThatThrownBy(() -> client.tier().lease(keys, OnMiss.SKIP, scope).block(PATIENCE))
          .isInstanceOf(PermanentKvException.class);
    }
    broken = "reserve";
    assertThatThrownBy(() -> client.offload(keys, (layer, plane, token) -> row).block(PATIENCE))
        .isInstanceOf(KvException.class);
    broken = "";

    assertThat(client.offload(TOKENS, (layer, plane, token) -> row).block(PATIENCE)).isEqualTo(4);
    assertThat(client.load(TOKENS, (layer, plane, token) -> row).block(PATIENCE)).isEqualTo(16);
  }

  @Test
  void errorInAReader_reachesTheCaller_withItsCause() {
    Mono<Integer> read = client.tier().match(SPACE.keys(TOKENS)).map(found -> {
      throw new NoSuchFieldError("POJO");
    });

    assertThatThrownBy(() -> read.block(PATIENCE)).isInstanceOf(PermanentKvException.class)
        .hasCauseInstanceOf(NoSuchFieldError.class);
  }

  @Test
  void errorInAnEngine_endsLoadAndOffload_withItsCause() {
    assertThatThrownBy(() -> client.offload(TOKENS, (layer, plane, token) -> {
      throw new NoClassDefFoundError("engine");
    }).block(PATIENCE)).isInstanceOf(PermanentKvException.class).hasCauseInstanceOf(NoClassDefFoundError.class);

    client.offload(TOKENS, (layer, plane, token) -> row).block(PATIENCE);
    assertThatThrownBy(() -> client.load(TOKENS, (layer, plane, token) -> {
      throw new NoClassDefFoundError("engine");
    }).block(PATIENCE)).isInstanceOf(PermanentKvException.class).hasCauseInstanceOf(NoClassDefFoundError.class);

    // The node's last slices are charged until they have come.
    Eventually.holds("nothing of the client is lent", () -> Stream.of("arena loads: 0 of 128 slots lent",
        "arena offloads: 0 of 128 slots lent", "budget client: 0 of 16777216 bytes in flight")
        .allMatch(client.toString()::contains), client::toString);
  }

  @Test
  void connecting_toAPeerThatSaysNothing_endsAtItsDeadline() throws IOException {
    KvClientOptions impatient = KvClientOptions.builder().connectTimeout(Duration.ofMillis(100)).build();
    try (ServerSocket mute = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Mono<PenstockClient> connecting = PenstockClient.connect("127.0.0.1:" + mute.getLocalPort(),
          PenstockClient.Options.of(SPACE).withConnection(impatient));

      assertThatThrownBy(() -> connecting.block(PATIENCE)).isInstanceOf(ConnectTimeoutException.class)
          .hasMessage("connecting to the node must end within PT0.1S (it did not)");
    }
  }
}
