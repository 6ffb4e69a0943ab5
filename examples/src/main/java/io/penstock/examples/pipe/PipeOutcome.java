package io.penstock.examples.pipe;

/// What the receiving end of the example saw.
///
/// @param tensors received
/// @param bytes of them
/// @param wrong tensors that were not what they had to be
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
