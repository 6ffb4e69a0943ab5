package io.penstock.examples.pipe;

import io.penstock.check.Checks;
import io.penstock.examples.source.SeededBytes;
import java.util.SplittableRandom;
import reactor.core.publisher.Flux;

/// Tensors that both ends of the example can make: type, shape and bytes are functions of a seed and a number.
///
/// @param seed of all tensors
/// @param count number of tensors
record TensorSequence(long seed, int count) {
  private static final long MOST_ROWS = 2048;
  private static final long WIDTH = 512;

  TensorSequence {
    Checks.positive("count", count);
  }

  /// A sequence of about `bytes`.
  static TensorSequence ofBytes(long seed, long bytes) {
    int count = 0;
    for (long sum = 0; sum < bytes; count++) {
      sum += shape(seed, count).bytes();
    }
    return new TensorSequence(seed, count);
  }

  TensorShape shape(int number) {
    return shape(seed, number);
  }

  /// Seed of the bytes of tensor `number`.
  long seedOf(int number) {
    return seed * 0x9E3779B97F4A7C15L + number * 0x2545F4914F6CDD1DL;
  }

  Flux<Tensor> tensors() {
    return Flux.range(0, count).map(this::tensor);
  }

  private Tensor tensor(int number) {
    return new Tensor(shape(number), (from, to) -> SeededBytes.fill(seedOf(number), from, to));
  }

  long bytes() {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += shape(i).bytes();
    }
    return sum;
  }

  private static TensorShape shape(long seed, int number) {
    SplittableRandom random = new SplittableRandom(seed * 31 + number);
    TensorType type = TensorType.values()[random.nextInt(TensorType.values().length)];
    return TensorShape.of(type, 2, random.nextLong(1, MOST_ROWS), WIDTH);
  }
}
