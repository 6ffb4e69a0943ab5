package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.HostTier;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.ConnectionSlots;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// Peers that connect and say too little: they cost others nothing, and not for long.
@Timeout(60)
final class SilentPeerTest {
  private static final CacheSpace SPACE = CacheSpace.of("silent", BlockLayout.attention(1, 1, 1, 16, ElementType.BF16));
  private static final Duration PATIENCE = WireNode.PATIENCE;

  private final LoopResources loops = LoopResources.create("silent", 1, 2, true);
  private final Scheduler timers = Schedulers.newSingle("timers", true);
  private final HostTier tier = new HostTier(SPACE, 4, TierListener.noop());
  private final SlabArena arena = new SlabArena("client", SPACE.layout(), 4, 4);
  private final List<Socket> silent = new ArrayList<>();
  private KvServer server;
  private TcpListener listening;

  private void listen(ConnectionSlots slots) {
    server = requireNonNull(
        KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0).withSlots(slots), loops), tier,
            KvServerOptions.defaults(), new ByteBudget("ingress", 1 << 20, 4), timers).block(PATIENCE));
    listening = (TcpListener) server.listening();
  }

  @AfterEach
  void close() throws IOException {
    for (Socket each : silent) {
      each.close();
    }
    server.close().then(tier.close()).block(PATIENCE);
    arena.close();
    timers.dispose();
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  private static void await(BooleanSupplier condition) {
    Eventually.holds("the condition holds", condition::getAsBoolean);
  }

  private KvClient connect() {
    return requireNonNull(
        KvClient.connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", listening.port()), loops),
            KvClientOptions.defaults(), SPACE, arena, new ByteBudget("client", 1 << 20, 4)).block(PATIENCE));
  }

  /// @param said the first bytes of a frame that never ends
  private Socket silent(byte... said) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), listening.port());
    silent.add(socket);
    socket.getOutputStream().write(said);
    return socket;
  }

  /// Whether the server has said something, which is why it ends the connection, or has ended it.
  private static boolean isEnded(Socket socket) {
    try {
      socket.setSoTimeout(1);
      socket.getInputStream().read();
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) { // reset
      return true;
    }
  }

  private void assertServes() {
    KvClient served = connect();
    assertEquals(0, served.match(Blocks.keys(SPACE, 0, 1)).block(PATIENCE));
    served.close().block(PATIENCE);
  }

  private void assertEnded(byte... said) throws IOException {
    listen(ConnectionSlots.of(2).withTimeToSetup(Duration.ofMillis(200)));
    Socket socket = silent(said);

    String heard = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertTrue(heard.endsWith("SETUP must come within 200 ms (was not there)"), heard);
    await(() -> listening.connections() == 0);
    assertServes();
  }

  @Test
  void peerThatSaysNothing_isEnded_withTheRule() throws IOException {
    assertEnded();
  }

  @Test
  void peerThatBeginsAFrame_isEnded_withTheRule() throws IOException {
    assertEnded((byte) 0, (byte) 0, (byte) 60, (byte) 0);
  }

  @Test
  void silentPeers_howeverMany_shutOutNoOther_andDoNotPileUp() throws IOException {
    int newcomers = 16;
    listen(ConnectionSlots.of(2).withNewcomers(newcomers).withTimeToSetup(Duration.ofMinutes(10)));
    for (int i = 0; i < 300; i++) {
      silent(new byte[i % 3]);
      if (i % 50 == 49) { // one event loop may be behind the others: all are in before the next one comes
        int ended = i + 1 - newcomers;
        await(() -> silent.stream().filter(SilentPeerTest::isEnded).count() >= ended);
        assertServes();
      }
    }
    await(() -> listening.connections() <= newcomers);
    for (Socket each : silent) {
      each.close();
    }
    await(() -> listening.connections() == 0);
  }
}
