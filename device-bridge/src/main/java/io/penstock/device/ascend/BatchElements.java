package io.penstock.device.ascend;

import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.ascend.acl.MemoryPlace;

/// A batch of the port: host memory needs no question, and the device's side was looked up before.
record BatchElements(CopyBatch batch, MemoryPlace device) implements CopyElements {
  private boolean isUp() {
    return batch.direction() == CopyDirection.TO_DEVICE;
  }

  @Override
  public int count() {
    return batch.elements();
  }

  @Override
  public long from(int element) {
    return isUp() ? batch.host(element).address() : batch.device(element);
  }

  @Override
  public long to(int element) {
    return isUp() ? batch.device(element) : batch.host(element).address();
  }

  @Override
  public long bytes(int element) {
    return batch.host(element).byteSize();
  }

  @Override
  public MemoryPlace source(int element) {
    return isUp() ? MemoryPlace.HOST : device;
  }

  @Override
  public MemoryPlace target(int element) {
    return isUp() ? device : MemoryPlace.HOST;
  }

  @Override
  public void ended(int element, int code) {
    // the report has the first failure, which is the batch's
  }
}
