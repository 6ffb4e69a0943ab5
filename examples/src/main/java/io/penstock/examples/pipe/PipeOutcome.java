package io.penstock.examples.pipe;

/// Result of the receiving end of the example.
///
/// @param tensors received
/// @param bytes of them
/// @param wrong tensors that differed from the expected ones
/// @param seconds from the first request to the end
/// @param leakedChunks chunks of memory not given back after the end
record PipeOutcome(int tensors, long bytes, int wrong, double seconds, long leakedChunks) {
  double bytesPerSecond() {
    return bytes / seconds;
  }

  boolean isGood(TensorSequence sequence) {
    return tensors == sequence.count() && bytes == sequence.bytes() && wrong == 0 && leakedChunks == 0;
  }
}
