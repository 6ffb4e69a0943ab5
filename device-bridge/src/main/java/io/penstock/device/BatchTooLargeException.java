package io.penstock.device;

/// A batch of copies was given more elements than a device takes in one call.
final class BatchTooLargeException extends IllegalArgumentException {
  private final int elements;

  public BatchTooLargeException(int elements) {
    super("elements must be <= " + CopyBatch.MAX_ELEMENTS + " a batch (was " + elements + ")");
    this.elements = elements;
  }

  /// Elements that the batch would have had.
  public int elements() {
    return elements;
  }
}
