package io.penstock.device.ascend;

/// How the copies of one request were made.
///
/// @param elements of the request
/// @param failed elements whose result is not [CopyRequest#COPIED]
/// @param firstFailed number of the first failed element that the library blamed, −1 if none failed
/// @param code its result, 0 if none failed
/// @param calls that made them
public record CopyReport(int elements, int failed, int firstFailed, int code, Calls calls) {
  /// Calls of the library.
  ///
  /// @param batches calls of the batch function
  /// @param batched elements of these calls
  /// @param largestBatch most elements of one call
  /// @param single elements with a call of their own, on a stream or inside the host
  /// @param fallbacks batch calls with the answer "not supported"
  public record Calls(int batches, int batched, int largestBatch, int single, int fallbacks) {}

  /// Whether no copy was asked of the library.
  boolean isUntouched() {
    return calls.batched == 0 && calls.single == 0;
  }

  public boolean isComplete() {
    return failed == 0;
  }
}
