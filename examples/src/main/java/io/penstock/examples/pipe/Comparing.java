package io.penstock.examples.pipe;

import io.penstock.block.BlockScope;
import io.penstock.examples.source.SeededBytes;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Receives a [TensorSequence] and compares type, shape and every byte of each tensor with what it must be.
final class Comparing {
  private final TensorSequence sequence;
  private final LongConsumer listener;
  private final Function<Publisher<ReceivedTensor>, Publisher<ReceivedTensor>> recorded;
  private int tensors;
  private long bytes;
  private int wrong;

  /// @param listener receives the number of bytes so far
  /// @param recorded what the tensors pass through, such as a recorder
  Comparing(TensorSequence sequence, LongConsumer listener,
      Function<Publisher<ReceivedTensor>, Publisher<ReceivedTensor>> recorded) {
    this.recorded = recorded;
    this.sequence = sequence;
    this.listener = listener;
  }

  /// Receives everything, or ends as the pipe did.
  Mono<PipeOutcome> from(ReceivingEnd end) {
    return Mono.defer(() -> {
      long start = System.nanoTime();
      return Flux.using(BlockScope::new, end::receive, BlockScope::close).transform(recorded).doOnNext(this::take)
          .then(Mono.fromSupplier(() -> outcome((System.nanoTime() - start) / 1e9, end.claimedChunks())));
    });
  }

  private void take(ReceivedTensor tensor) {
    try (tensor) {
      int number = tensors++;
      bytes += tensor.shape().bytes();
      if (number >= sequence.count() || !tensor.shape().equals(sequence.shape(number))
          || differs(tensor, sequence.seedOf(number))) {
        wrong++;
      }
      listener.accept(bytes);
    }
  }

  /// Whether a byte of `tensor` is not what `seed` makes it.
  static boolean differs(ReceivedTensor tensor, long seed) {
    boolean[] differs = new boolean[1];
    tensor.read((from, part) -> differs[0] |= SeededBytes.mismatch(seed, from, part) >= 0);
    return differs[0];
  }

  private PipeOutcome outcome(double seconds, long leakedChunks) {
    return new PipeOutcome(tensors, bytes, wrong, seconds, leakedChunks);
  }
}
