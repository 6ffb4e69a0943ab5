package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.KvException;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.HostTier;
import io.penstock.tier.TierListener;
import io.penstock.wire.transport.TcpClientOptions;
import io.penstock.wire.transport.TcpListener;
import io.penstock.wire.transport.TcpServerOptions;
import io.penstock.wire.transport.TcpTransport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Peers that connect and say too little: each has one of the connections that a node may have, but not for ever.
@Timeout(60)
final class SilentPeerTest {
  private static final CacheSpace SPACE = CacheSpace.of("silent", BlockLayout.attention(1, 1, 1, 16, ElementType.BF16));
  private static final Duration PATIENCE = WireNode.PATIENCE;

  private final LoopResources loops = LoopResources.create("silent", 1, 2, true);
  private final Scheduler timers = Schedulers.newSingle("timers", true);
  private final HostTier tier = new HostTier(SPACE, 4, TierListener.noop());
  private final SlabArena arena = new SlabArena("client", SPACE.layout(), 4, 4);
  private VirtualTimeScheduler time;
  private KvServer server;
  private TcpListener listening;

  /// RSocket keeps its time limit by the schedulers that everybody shares.
  @BeforeEach
  void listen() {
    server = requireNonNull(
        KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0).withMaxConnections(1), loops), tier,
            KvServerOptions.defaults(), new ByteBudget("ingress", 1 << 20, 4), timers).block(PATIENCE));
    listening = (TcpListener) server.listening();
    time = VirtualTimeScheduler.getOrSet();
  }

  @AfterEach
  void close() {
    VirtualTimeScheduler.reset();
    server.close().then(tier.close()).block(PATIENCE);
    arena.close();
    timers.dispose();
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  private static void await(BooleanSupplier condition, Runnable meanwhile) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean() && System.nanoTime() < deadline) {
      meanwhile.run();
      Thread.onSpinWait();
    }
  }

  private KvClient connect() {
    return requireNonNull(
        KvClient.connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", listening.port()), loops),
            KvClientOptions.defaults(), SPACE, arena, new ByteBudget("client", 1 << 20, 4)).block(PATIENCE));
  }

  /// @param said the first bytes of a frame that never ends
  private void assertEnded(byte... said) throws IOException {
    try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), listening.port())) {
      silent.getOutputStream().write(said);
      silent.getOutputStream().flush();
      await(() -> listening.connections() == 1, () -> {});
      assertThrows(KvException.class, this::connect);

      await(() -> listening.connections() == 0, () -> time.advanceTimeBy(Duration.ofSeconds(61)));
      assertEquals(-1, silent.getInputStream().read(), "it hears the end, and nothing else");
    }
    VirtualTimeScheduler.reset();
    KvClient served = connect();
    assertEquals(0, served.match(Blocks.keys(SPACE, 0, 1)).block(PATIENCE));
    served.close().block(PATIENCE);
  }

  @Test
  void peerThatSaysNothing_isEnded_andItsPlaceIsFree() throws IOException {
    assertEnded();
  }

  @Test
  void peerThatBeginsAFrame_isEnded_andItsPlaceIsFree() throws IOException {
    assertEnded((byte) 0, (byte) 0, (byte) 60, (byte) 0);
  }
}
