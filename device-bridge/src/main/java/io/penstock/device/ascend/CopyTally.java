package io.penstock.device.ascend;

/// The figures of one request, while it is being made.
final class CopyTally {
  private int elements;
  private int failed;
  private int firstFailed;
  private int code;
  private int batchCalls;
  private int batched;
  private int largestBatch;
  private int single;
  private int fallbacks;

  void begin(int elements) {
    this.elements = elements;
    failed = 0;
    firstFailed = -1;
    code = 0;
    batchCalls = 0;
    batched = 0;
    largestBatch = 0;
    single = 0;
    fallbacks = 0;
  }

  void batchCall(int elements) {
    batchCalls++;
    batched += elements;
    largestBatch = Math.max(largestBatch, elements);
  }

  void single() {
    single++;
  }

  void fellBack() {
    fallbacks++;
  }

  void failed(int element, int code) {
    if (failed++ == 0) {
      firstFailed = element;
      this.code = code;
    }
  }

  CopyReport report() {
    return new CopyReport(elements, failed, firstFailed, code,
        new CopyReport.Calls(batchCalls, batched, largestBatch, single, fallbacks));
  }
}
