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
import reactor.netty.resources.LoopResources;

/// The transports that the protocol must run on: RSocket's own, ours, and ours with blocks in shared memory.
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
    @Override
    public ServerTransport<? extends Closeable> server(int port) {
      return PENSTOCK.server(port);
    }

    @Override
    public int port(KvServer server) {
      return PENSTOCK.port(server);
    }

    @Override
    public ClientTransport client(int port) {
      return PENSTOCK.client(port);
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
