package io.penstock.wire;

import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.wire.transport.TcpClientOptions;
import io.penstock.wire.transport.TcpListener;
import io.penstock.wire.transport.TcpServerOptions;
import io.penstock.wire.transport.TcpTransport;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import reactor.netty.resources.LoopResources;

/// The transports that the protocol must run on: RSocket's own, ours, and ours with blocks in shared memory.
enum Link {
  STOCK {
    @Override
    ServerTransport<? extends Closeable> server(int port) {
      return TcpServerTransport.create("127.0.0.1", port);
    }

    @Override
    int port(KvServer server) {
      return ((CloseableChannel) server.listening()).address().getPort();
    }

    @Override
    ClientTransport client(int port) {
      return TcpClientTransport.create("127.0.0.1", port);
    }
  },
  PENSTOCK {
    private final LoopResources loops = LoopResources.create("wire-test", 1, 2, true);

    @Override
    ServerTransport<? extends Closeable> server(int port) {
      return TcpTransport.server(TcpServerOptions.on("127.0.0.1", port), loops);
    }

    @Override
    int port(KvServer server) {
      return ((TcpListener) server.listening()).port();
    }

    @Override
    ClientTransport client(int port) {
      return TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), loops);
    }
  },
  SHARED_MEMORY {
    @Override
    ServerTransport<? extends Closeable> server(int port) {
      return PENSTOCK.server(port);
    }

    @Override
    int port(KvServer server) {
      return PENSTOCK.port(server);
    }

    @Override
    ClientTransport client(int port) {
      return PENSTOCK.client(port);
    }

    @Override
    ChunkSource chunks() {
      return ChunkSource.shared("wire-test");
    }
  };

  /// @param port 0 for any
  abstract ServerTransport<? extends Closeable> server(int port);

  ServerTransport<? extends Closeable> server() {
    return server(0);
  }

  abstract int port(KvServer server);

  abstract ClientTransport client(int port);

  /// Memory of the blocks at both ends.
  ChunkSource chunks() {
    return ChunkSource.ofJdk();
  }
}
