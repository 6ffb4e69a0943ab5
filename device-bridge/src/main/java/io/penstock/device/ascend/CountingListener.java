package io.penstock.device.ascend;

import io.penstock.device.CopyCounts;

/// Counts and passes on.
record CountingListener(CopyCounts counts, AscendListener next) implements AscendListener {
  @Override
  public void called(int device, CopyKind kind, CopyMethod method, int elements, long bytes, long nanos) {
    counts.called(method == CopyMethod.BATCH ? 1 : elements, elements, bytes);
    next.called(device, kind, method, elements, bytes, nanos);
  }

  @Override
  public void failed(int device, int code, int elements) {
    counts.failed(elements);
    next.failed(device, code, elements);
  }

  @Override
  public void fellBack(int device, int code) {
    counts.fellBack();
    next.fellBack(device, code);
  }
}
