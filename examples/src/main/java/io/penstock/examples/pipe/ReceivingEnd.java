package io.penstock.examples.pipe;

import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ArenaClosedException;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierClosedException;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.WireFailure.AwaitTimeoutException;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// The end of a pipe that connects and receives; see [TensorPipe].
public final class ReceivingEnd {
  /// Chunks that are asked for by one request; the next one follows by itself.
  static final int KEYS_A_LEASE = 1024;
  /// A sender may take any time for its next tensor; keep-alive ends a connection that is lost.
  private static final Duration SENDERS_TIME = Duration.ofDays(365);

  private final PipeOptions options;
  private final PipeKeys keys;
  private final SlabArena arena;
  private final ByteBudget budget;
  private final KvClient client;
  private final AtomicBoolean received = new AtomicBoolean();
  private volatile Mono<Void> lastWord = Mono.empty();

  private ReceivingEnd(PipeOptions options, SlabArena arena, ByteBudget budget, KvClient client) {
    this.options = options;
    this.keys = new PipeKeys(options.space().id());
    this.arena = arena;
    this.budget = budget;
    this.client = client;
  }

  static Mono<ReceivingEnd> connect(TcpClientOptions where, PipeOptions options, LoopResources loops) {
    return Mono.defer(() -> {
      SlabArena arena = new SlabArena("pipe", options.space().layout(), options.receivingSlots(), 4);
      ByteBudget budget = new ByteBudget("pipe", options.budgetBytes(), 4);
      KvClientOptions asking =
          KvClientOptions.builder().name("pipe").maxSliceBytes(options.chunkBytes()).windowBlocks(1)
              .answerTimeout(SENDERS_TIME).build();
      return KvClient.connect(TcpTransport.client(where, loops), asking, options.space(), arena, budget)
          .map(client -> new ReceivingEnd(options, arena, budget, client)).doOnError(error -> arena.close());
    });
  }

  /// The tensors, in the order in which they were sent, every byte verified.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | tensors; a few chunks are taken ahead; none comes while open tensors fill the memory |
  /// | cancel | the sending end gets [PipeCancelledException]; `scope` owns the emitted tensors |
  /// | threads | the connection's event loop, or the thread whose request or close let it continue |
  /// | signals | [PipeFailedException] if the sender failed; [PipeLostException] if it is gone; [PipeFormatException] |
  ///
  /// @param scope owns the tensors emitted; close each when done with it
  /// @return a stream for one subscriber
  public Flux<ReceivedTensor> receive(BlockScope scope) {
    return Flux.usingWhen(Mono.fromCallable(this::once),
        once -> tensors(scope).onErrorMap(ReceivingEnd::typed),
        once -> say(keys.received()),
        (once, error) -> error instanceof PipeFailedException ? say(keys.received()) : Mono.empty(),
        once -> say(keys.cancelled()));
  }

  private boolean once() {
    if (!received.compareAndSet(false, true)) {
      throw new IllegalStateException("pipe must be used once (was used before)");
    }
    return true;
  }

  private Flux<ReceivedTensor> tensors(BlockScope scope) {
    return Flux.defer(() -> {
      TensorAssembly assembly = new TensorAssembly(options, scope);
      return chunks(scope).limitRate(options.chunksAhead()).handle(assembly);
    });
  }

  private Flux<LayerSlice> chunks(BlockScope scope) {
    Flux<Long> leases = Flux.generate(() -> 0L, (first, sink) -> {
      sink.next(first);
      return first + KEYS_A_LEASE;
    });
    return leases.concatMap(first -> client.lease(keys.chunks(first, KEYS_A_LEASE), OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.slices(scope)), 0);
  }

  /// Reports to the sending end how this end finished; if the sending end is gone, nothing changes here.
  private Mono<Void> say(BlockKey word) {
    Mono<Void> said = client.remove(List.of(word)).then().onErrorComplete(ConnectionLostException.class).cache();
    lastWord = said;
    return said;
  }

  private static Throwable typed(Throwable error) {
    return switch (error) {
      case ConnectionLostException lost -> new PipeLostException("sending", lost);
      case ArenaClosedException closed -> new PipeLostException("this", closed); // while it was receiving
      case KvException said when isOfSender(said) -> new PipeFailedException(String.valueOf(said.getMessage()));
      default -> error;
    };
  }

  private static boolean isOfSender(KvException error) {
    return error instanceof RemotePermanentException || error instanceof RemoteTransientException
        || error instanceof TierClosedException || error instanceof DrainingException
        || error instanceof AwaitTimeoutException;
  }

  /// Memory of this end that is in use, in chunks; 0 once the pipe ended and every tensor was closed.
  public long claimedChunks() {
    return arena.claimedSlots();
  }

  /// Bytes asked for and not landed.
  public long inFlightBytes() {
    return budget.inUseBytes();
  }

  /// Drops the connection, after the last word was said. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> lastWord.then(client.close())).doFinally(end -> arena.close());
  }
}
