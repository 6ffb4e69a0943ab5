package io.penstock.wire;

import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.wire.transport.TcpClientOptions;
import io.penstock.wire.transport.TcpListener;
import io.penstock.wire.transport.TcpServerOptions;
import io.penstock.wire.transport.TcpTransport;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.netty.resources.LoopResources;

/// Unix domain sockets in `folder`, whose names are numbers.
record UnixLink(Path folder, LoopResources loops, AtomicInteger last) implements LinkEnds {
  UnixLink(Path folder) {
    this(folder, LoopResources.create("unix-test", 1, 2, true), new AtomicInteger());
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
