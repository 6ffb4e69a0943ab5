package io.penstock.readme;

import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.segment.SegmentConnector;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transfer.SegmentRegistry;
import io.penstock.wire.transfer.Transfer;
import io.penstock.wire.transfer.TransferBatch;
import io.penstock.wire.transfer.TransferEngine;
import io.penstock.wire.transfer.TransferOptions;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.lang.foreign.Arena;
import java.security.SecureRandom;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A node that serves 1 MiB of memory, and a client that writes into it.
final class TransferExample {
  private final ByteBudget budget = new ByteBudget("transfers", 64 << 20, 1024);

  Mono<KvServer> node(Arena memory, LoopResources loops, Scheduler timers) {
    SegmentRegistry segments = new SegmentRegistry(System.nanoTime());
    segments.register("kv", memory.allocate(1 << 20));
    return KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops), NodeSpaces.none(), segments,
        KvServerOptions.defaults(), budget, timers, Schedulers.immediate());
  }

  TransferEngine engine(KvServer node, LoopResources loops, Scheduler timers) {
    int port = ((TcpListener) node.listening()).port();
    return new TransferEngine(TransferOptions.defaults(),
        new SegmentConnector(peer -> TcpTransport.client(TcpClientOptions.to(peer, port), loops),
            KvClientOptions.defaults(), budget),
        timers, new SecureRandom());
  }

  Mono<Transfer.BatchResult> write(TransferEngine engine, Arena memory) {
    TransferBatch batch =
        TransferBatch.builder().write("127.0.0.1", "kv", 0, memory.allocate(300_000)).notifying("ready").build();
    return Mono.defer(() -> engine.submit(batch).done());
  }
}
