package io.penstock.examples.pipe;

import io.penstock.operator.InTurn;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// Pulls chunks out of a stream of tensors, one for each request, over as many leases as it takes. The last chunk says
/// how the stream ended; the stream itself never fails.
final class ChunkSource extends BaseSubscriber<PipeChunk> {
  private @Nullable MonoSink<PipeChunk> asked;

  /// All chunks of `tensors`, and one that ends them.
  static Flux<PipeChunk> chunks(Flux<Tensor> tensors, PipeOptions options) {
    return InTurn.of(tensors.concatMap(tensor -> chunks(tensor, options), 0), Flux.just(new PipeChunk.Last(null)));
  }

  private static Flux<PipeChunk> chunks(Tensor tensor, PipeOptions options) {
    long bytes = tensor.shape().bytes();
    if (bytes > options.maxTensorBytes()) {
      return Flux.error(
          new IllegalArgumentException("tensor must be <= " + options.maxTensorBytes() + " bytes (was " + bytes + ")"));
    }
    return Flux.range(0, (int) PipeChunk.count(bytes, options.chunkBytes()))
        .map(i -> PipeChunk.of(tensor, i, options.chunkBytes()));
  }

  /// The next chunk; asked for one at a time.
  Mono<PipeChunk> next() {
    return Mono.create(sink -> sink.onRequest(new FirstRequest(() -> {
      synchronized (this) {
        asked = sink;
      }
      request(1);
    })));
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    // the source is asked for nothing before the first chunk is wanted
  }

  @Override
  protected void hookOnNext(PipeChunk chunk) {
    MonoSink<PipeChunk> sink;
    synchronized (this) {
      sink = asked;
      asked = null;
    }
    if (sink != null) {
      sink.success(chunk);
    }
  }
}
