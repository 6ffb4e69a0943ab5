package io.penstock.examples.pipe;

import io.penstock.block.SlabArena;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.ConnectionSlots;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.net.SocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// The end of a pipe that listens and sends; see [TensorPipe].
public final class SendingEnd {
  private final PipeOptions options;
  private final PipeTier tier;
  private final SlabArena arena;
  private final KvServer server;
  private final AtomicBoolean sent = new AtomicBoolean();

  private SendingEnd(PipeOptions options, PipeTier tier, SlabArena arena, KvServer server) {
    this.options = options;
    this.tier = tier;
    this.arena = arena;
    this.server = server;
  }

  static Mono<SendingEnd> listen(TcpServerOptions where, PipeOptions options, LoopResources loops, Scheduler timers) {
    return Mono.defer(() -> {
      SlabArena arena = new SlabArena("pipe", options.space().layout(), options.sendingSlots(), 4);
      PipeTier tier = new PipeTier(options, arena);
      KvServerOptions serving = KvServerOptions.defaults().withNode("pipe")
          .withLimits(new Limits(options.chunkBytes(), 1, ReceivingEnd.KEYS_A_LEASE));
      return KvServer
          .bind(TcpTransport.server(where.withSlots(ConnectionSlots.of(1)), loops, listener(tier)), tier, serving,
              new ByteBudget("pipe", 2 * serving.sendWindowBytes(), 2), timers)
          .map(server -> new SendingEnd(options, tier, arena, server)).doOnError(error -> arena.close());
    });
  }

  private static ConnectionListener listener(PipeTier tier) {
    return new ConnectionListener() {
      @Override
      public void closed(ConnectionGauges connection, @Nullable Throwable cause) {
        tier.disconnected(cause);
      }
    };
  }

  /// Address for the receiving end.
  public SocketAddress address() {
    return ((TcpListener) server.listening()).address();
  }

  /// Sends `tensors`, in order, to the receiving end, whenever that connects.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | one tensor at a time, requested when the receiving end has room for its first chunk |
  /// | threads | bytes are written on the connection's event loop |
  /// | cancel | the receiving end gets [PipeFailedException] |
  /// | ends | when the receiving end has confirmed all chunks |
  /// | signals | errors of `tensors`; [PipeCancelledException]; [PipeLostException] |
  ///
  /// @return a cold `Mono` for one subscriber
  public Mono<Void> send(Flux<Tensor> tensors) {
    return Mono.defer(() -> {
      if (!sent.compareAndSet(false, true)) {
        return Mono.error(new IllegalStateException("pipe must be used once (was used before)"));
      }
      ChunkSource chunks = new ChunkSource();
      ChunkSource.chunks(tensors, options).onErrorResume(this::lastWord).subscribe(chunks);
      tier.start(chunks);
      return tier.outcome().doFinally(end -> {
        chunks.cancel();
        if (end == SignalType.CANCEL) {
          tier.abandon();
        }
      });
    });
  }

  private Flux<PipeChunk> lastWord(Throwable failure) {
    tier.failed(failure);
    return Flux.just(new PipeChunk.Last(String.valueOf(failure.getMessage())));
  }

  /// Memory of this end that is in use, in chunks; 0 once the pipe ended.
  public long claimedChunks() {
    return arena.claimedSlots();
  }

  /// Stops listening and drops the connection. Lazy and idempotent.
  public Mono<Void> close() {
    return server.close().then(tier.close()).doFinally(end -> arena.close());
  }
}
