package io.penstock.wire.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.frame.FrameReader;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.io.IOException;
import java.net.BindException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.resources.LoopResources;

/// Unix domain sockets, and the files that they leave.
final class UnixTransportTest extends TransportContract {
  @TempDir
  private Path folder;

  @BeforeEach
  void native_() {
    Assumptions.assumeTrue(LoopResources.hasNativeSupport());
  }

  private Path socket() {
    return folder.resolve("node");
  }

  @Override
  public ServerTransport<? extends Closeable> server() {
    TcpServerOptions options = TcpServerOptions.on(socket()).withLimits(pair.limits).withSlots(pair.slots)
        .withReceive(pair.receive);
    return TcpTransport.server(options, Framing.LENGTHS, pair.loops, pair.listener, pair.ledger);
  }

  @Override
  public ClientTransport client(Closeable listening) {
    return client(((DomainSocketAddress) ((TcpListener) listening).address()).path());
  }

  @Override
  public ClientTransport clientWithoutServer() {
    return client(folder.resolve("absent").toString());
  }

  private ClientTransport client(String path) {
    return TcpTransport.client(TcpClientOptions.to(Path.of(path)).withLimits(pair.limits), Framing.LENGTHS, pair.loops,
        pair.listener, pair.ledger);
  }

  @Override
  public TransportKind kind() {
    return TransportKind.UDS;
  }

  @Test
  void file_belongsToThisUserAlone_andGoesWithTheListener() throws IOException {
    Closeable listening = server().start(pair::collect).block(TcpPair.PATIENCE);

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket()))).isEqualTo("rw-------");
    assertThatThrownBy(() -> server().start(pair::collect).block(TcpPair.PATIENCE))
        .hasRootCauseInstanceOf(BindException.class).hasMessageContaining("no other node uses");

    listening.dispose();
    listening.onClose().block(TcpPair.PATIENCE);
    assertThat(Files.list(folder)).isEmpty();
  }

  @Test
  void file_ofADeadNode_isReplaced_andAnyOtherIsLeft() throws IOException {
    try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      dead.bind(UnixDomainSocketAddress.of(socket()));
    }
    Closeable listening = server().start(pair::collect).block(TcpPair.PATIENCE);
    client(listening).connect().block(TcpPair.PATIENCE);
    FrameReader.unbounded(pair.accepted(0));
    listening.dispose();
    listening.onClose().block(TcpPair.PATIENCE);

    Files.writeString(socket(), "a file of the user's");
    assertThatThrownBy(() -> server().start(pair::collect).block(TcpPair.PATIENCE))
        .hasMessageContaining("must be a socket, or not there");
    assertThat(socket()).hasContent("a file of the user's");
  }

  @Test
  void path_thatIsTooLong_isToldWithItsLimit() {
    assertThatThrownBy(() -> TcpTransport
        .server(TcpServerOptions.on(folder.resolve("x".repeat(120))), pair.loops).start(pair::collect)
        .block(TcpPair.PATIENCE)).hasMessageContaining("path of a socket must have <= 103 bytes");
  }
}
