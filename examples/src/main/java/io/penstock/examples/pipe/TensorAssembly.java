package io.penstock.examples.pipe;

import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.SynchronousSink;

/// Puts the chunks of one pipe together to tensors. One subscriber's state.
final class TensorAssembly implements BiConsumer<LayerSlice, SynchronousSink<ReceivedTensor>> {
  private final PipeOptions options;
  private final BlockScope scope;
  private final List<LayerSlice> chunks = new ArrayList<>();
  private @Nullable TensorShape shape;
  private long received;

  TensorAssembly(PipeOptions options, BlockScope scope) {
    this.options = options;
    this.scope = scope;
  }

  @Override
  public void accept(LayerSlice chunk, SynchronousSink<ReceivedTensor> sink) {
    TensorShape current = shape;
    if (current != null) {
      add(current, chunk, sink);
      return;
    }
    Object head = chunk.spans().getFirst().read(this::head);
    if (head instanceof TensorShape begun) {
      shape = begun;
      add(begun, chunk, sink);
    } else {
      chunk.close();
      end((PipeChunk.Last) head, sink);
    }
  }

  /// A shape, or the last word.
  private Object head(MemorySegment chunk) {
    return switch (PipeChunk.kind(chunk)) {
      case PipeChunk.KIND_TENSOR -> fitting(PipeChunk.shape(chunk));
      case PipeChunk.KIND_FAILURE -> new PipeChunk.Last(PipeChunk.failure(chunk));
      default -> new PipeChunk.Last(null);
    };
  }

  private TensorShape fitting(TensorShape begun) {
    if (begun.bytes() > options.maxTensorBytes()) {
      throw new PipeFormatException(
          "tensor must be <= " + options.maxTensorBytes() + " bytes (was " + begun.bytes() + ")");
    }
    return begun;
  }

  private void add(TensorShape current, LayerSlice chunk, SynchronousSink<ReceivedTensor> sink) {
    chunks.add(chunk);
    received += PipeChunk.room(options.chunkBytes(), received);
    if (received >= current.bytes()) {
      ReceivedTensor tensor = scope.adopt(new ReceivedTensor(current, chunks));
      chunks.clear();
      shape = null;
      received = 0;
      sink.next(tensor);
    }
  }

  private static void end(PipeChunk.Last last, SynchronousSink<ReceivedTensor> sink) {
    if (last.failure() == null) {
      sink.complete();
    } else {
      sink.error(new PipeFailedException(last.failure()));
    }
  }
}
