package io.penstock.examples.pipe;

import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// Opens the two ends of a pipe that carries tensors from one process to another.
///
/// | | |
/// |---|---|
/// | order | as sent |
/// | demand | the receiving end's alone: nothing is computed or sent that it has no room for |
/// | verification | a CRC32C a chunk, made where the bytes are written, compared where they land |
/// | end | both learn why: all received, [PipeFailedException], [PipeCancelledException] or [PipeLostException] |
///
/// ```java
/// TensorPipe.listen(TcpServerOptions.on("0.0.0.0", 7001), PipeOptions.defaults(), loops, timers)
///     .flatMap(end -> end.send(tensors).then(end.close()));
///
/// Flux.using(BlockScope::new, scope -> TensorPipe
///     .connect(TcpClientOptions.to("sender", 7001), PipeOptions.defaults(), loops)
///     .flatMapMany(end -> end.receive(scope)), BlockScope::close);
/// ```
public final class TensorPipe {
  private TensorPipe() {}

  /// The sending end, listening; one receiving end may connect.
  ///
  /// @param loops where its connection lives; the caller's to dispose
  /// @param timers for time limits; never used for work
  public static Mono<SendingEnd> listen(TcpServerOptions where, PipeOptions options, LoopResources loops,
      Scheduler timers) {
    return SendingEnd.listen(where, options, loops, timers);
  }

  /// The receiving end, connected.
  ///
  /// @param loops where its connection lives; the caller's to dispose
  /// @return a cold `Mono`; signals [io.penstock.wire.protocol.WireFailure.ConnectionLostException], or
  ///     [io.penstock.wire.protocol.WireFailure.RemotePermanentException] if the ends differ in their chunks
  public static Mono<ReceivingEnd> connect(TcpClientOptions where, PipeOptions options, LoopResources loops) {
    return ReceivingEnd.connect(where, options, loops);
  }
}
