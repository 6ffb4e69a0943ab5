package io.penstock.wire;

import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.netty.resources.LoopResources;

/// Unix domain sockets in `folder`, whose names are numbers.
record UnixLink(Path folder, LoopResources loops, AtomicInteger last) implements LinkEnds {
  /// Numbers of sockets of one process: the largest process number of Linux is 4,194,304.
  private static final int OF_PROCESS = 500;

  UnixLink(Path folder) {
    this(folder, LoopResources.create("unix-test", 1, 2, true), new AtomicInteger());
  }

  /// Sockets that processes of one test find by their numbers; each process makes others.
  static UnixLink ofProcesses() {
    Path folder = Path.of("target", "links");
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    int first = (int) (ProcessHandle.current().pid() * OF_PROCESS);
    return new UnixLink(folder, LoopResources.create("shared-test", 1, 2, true), new AtomicInteger(first));
  }

  @Override
  public ServerTransport<? extends Closeable> server(int port) {
    TcpServerOptions options = TcpServerOptions.on(path(port == 0 ? last.incrementAndGet() : port));
    return TcpTransport.server(LinkEnds.patient(options), loops);
  }

  @Override
  public int port(KvServer server) {
    return number(((DomainSocketAddress) ((TcpListener) server.listening()).address()).path());
  }

  @Override
  public ClientTransport client(int port) {
    return TcpTransport.client(TcpClientOptions.to(path(port)), loops);
  }

  @Override
  public SocketAddress free() {
    return address(last.incrementAndGet());
  }

  @Override
  public int port(SocketAddress address) {
    return number(((UnixDomainSocketAddress) address).getPath().toString());
  }

  @Override
  public SocketAddress address(int port) {
    return UnixDomainSocketAddress.of(path(port));
  }

  private static int number(String path) {
    return Integer.parseInt(String.valueOf(Path.of(path).getFileName()));
  }

  private Path path(int port) {
    return folder.resolve("" + port);
  }

  @Override
  public String toString() {
    return "UNIX";
  }
}
