package io.penstock.device.ascend;

import io.penstock.device.ascend.acl.MemoryPlace;

/// Elements of one request: their addresses, the kind of their memory, and their results.
interface CopyElements {
  int count();

  long from(int element);

  long to(int element);

  long bytes(int element);

  /// Neither place changes while the request runs.
  MemoryPlace source(int element);

  MemoryPlace target(int element);

  /// [CopyRequest#COPIED] or a code. Called once for each.
  void ended(int element, int code);

  /// The way of an element.
  default CopyKind kind(int element) {
    return CopyKind.of(source(element), target(element));
  }
}
