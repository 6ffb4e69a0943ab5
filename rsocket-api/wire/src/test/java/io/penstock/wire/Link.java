package io.penstock.wire;

import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import java.net.SocketAddress;
import reactor.netty.resources.LoopResources;

/// The transports that the protocol must run on: RSocket's own, ours, and ours over Unix domain sockets with
/// blocks in shared memory.
public enum Link implements LinkEnds {
  STOCK {
    @Override
    public ServerTransport<? extends Closeable> server(int port) {
      return TcpServerTransport.create("127.0.0.1", port);
    }

    @Override
    public int port(KvServer server) {
      return ((CloseableChannel) server.listening()).address().getPort();
    }

    @Override
    public ClientTransport client(int port) {
      return TcpClientTransport.create("127.0.0.1", port);
    }
  },
  PENSTOCK {
    private final LoopResources loops = LoopResources.create("wire-test", 1, 2, true);

    @Override
    public ServerTransport<? extends Closeable> server(int port) {
      return TcpTransport.server(LinkEnds.patient(TcpServerOptions.on("127.0.0.1", port)), loops);
    }

    @Override
    public int port(KvServer server) {
      return ((TcpListener) server.listening()).port();
    }

    @Override
    public ClientTransport client(int port) {
      return TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), loops);
    }
  },
  SHARED_MEMORY {
    private final UnixLink unix = UnixLink.ofProcesses();

    @Override
    public ServerTransport<? extends Closeable> server(int port) {
      return unix.server(port);
    }

    @Override
    public int port(KvServer server) {
      return unix.port(server);
    }

    @Override
    public ClientTransport client(int port) {
      return unix.client(port);
    }

    @Override
    public SocketAddress free() {
      return unix.free();
    }

    @Override
    public int port(SocketAddress address) {
      return unix.port(address);
    }

    @Override
    public SocketAddress address(int port) {
      return unix.address(port);
    }

    @Override
    public Carrier carrier() {
      return Carrier.SHARED_MEMORY;
    }

    @Override
    public ChunkSource chunks() {
      return ChunkSource.shared("wire-test");
    }
  };

  public ServerTransport<? extends Closeable> server() {
    return server(0);
  }
}
