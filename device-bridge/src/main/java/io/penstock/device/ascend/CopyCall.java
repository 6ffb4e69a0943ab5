package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;

import io.penstock.device.CopyBatch;
import io.penstock.device.ascend.acl.MemoryPlace;
import io.penstock.device.ascend.failure.AclCode;
import org.jspecify.annotations.Nullable;

/// The elements of the current call: one way, one source place, one target place, at most 4,096. Between host and
/// device, the host's side of an element may be a staging buffer. For the device's thread.
final class CopyCall {
  private @Nullable CopyElements elements;
  private @Nullable CopyStaging staging;
  private CopyKind kind = CopyKind.HOST_TO_HOST;
  /// Numbers of the elements, and the host address of each that has one.
  private final int[] numbers = new int[CopyBatch.MAX_ELEMENTS];
  private final long[] hosts = new long[CopyBatch.MAX_ELEMENTS];
  private int count;

  /// Routes copies between host and device through `staging` from now on.
  void stage(CopyStaging staging) {
    this.staging = staging;
  }

  /// Begins with elements of `kind`.
  void begin(CopyKind kind, CopyElements elements) {
    this.kind = kind;
    this.elements = elements;
    count = 0;
  }

  /// Takes an element, unless the call must be made without it.
  boolean add(int element) {
    boolean isFull = count == numbers.length || (count > 0 && !isLike(element));
    if (isFull || (kind.isBatched() && !place(element))) {
      return false;
    }
    numbers[count++] = element;
    return true;
  }

  /// A batch has one source and one destination.
  private boolean isLike(int element) {
    CopyElements all = elements();
    return all.source(numbers[0]).equals(all.source(element)) && all.target(numbers[0]).equals(all.target(element));
  }

  private boolean place(int element) {
    CopyElements all = elements();
    boolean isUp = kind == CopyKind.HOST_TO_DEVICE;
    long host = isUp ? all.from(element) : all.to(element);
    hosts[count] = staging == null ? host : staging.place(count, host, all.bytes(element), isUp);
    return hosts[count] != CopyStaging.FULL;
  }

  /// Ends the call. A stuck stream keeps its staging buffers.
  void clear() {
    count = 0;
    if (staging != null) {
      staging.giveBack();
    }
  }

  int count() {
    return count;
  }

  CopyKind kind() {
    return kind;
  }

  int number(int i) {
    return numbers[i];
  }

  long from(int i) {
    return kind == CopyKind.HOST_TO_DEVICE ? hosts[i] : elements().from(numbers[i]);
  }

  long to(int i) {
    return kind == CopyKind.DEVICE_TO_HOST ? hosts[i] : elements().to(numbers[i]);
  }

  long bytes(int i) {
    return elements().bytes(numbers[i]);
  }

  MemoryPlace source() {
    return elements().source(numbers[0]);
  }

  MemoryPlace target() {
    return elements().target(numbers[0]);
  }

  /// Whether a side of it was imported.
  boolean isShared() {
    return source().shared() || target().shared();
  }

  /// Sets the result of element `i`.
  void ended(int i, int code) {
    if (staging != null && kind == CopyKind.DEVICE_TO_HOST && code == AclCode.OK) {
      staging.arrived(i, hosts[i], bytes(i));
    }
    elements().ended(numbers[i], code);
  }

  private CopyElements elements() {
    return requireNonNull(elements, "begun");
  }
}
