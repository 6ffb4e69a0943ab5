package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Owned;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/// Copies that a device makes in one call: elements of (source, destination, length), all one way, in any order.
///
/// One thread fills a batch, then [Device#copy] takes it over, once. A batch owns what keeps the memory of its elements
/// alive ([#hold]) and closes it when its copies have ended, never earlier: a cancel frees no memory under a copy. The
/// caller closes a batch that it does not pass to a device.
public final class CopyBatch extends Owned {
  /// Maximum number of elements of a batch: the driver of an Ascend device takes as many in one call.
  public static final int MAX_ELEMENTS = 4096;

  private final CopyDirection direction;
  private final List<Owned> holds = new ArrayList<>();
  private final List<Runnable> checks = new ArrayList<>();
  private final AtomicBoolean taken = new AtomicBoolean();
  private MemorySegment[] host = new MemorySegment[16];
  private long[] device = new long[16];
  private int elements;
  private long bytes;

  public CopyBatch(CopyDirection direction) {
    this.direction = requireNonNull(direction, "direction");
  }

  /// Adds the copy of all of `hostMemory` to or from the address `deviceAddress`; its length is that of the segment.
  ///
  /// @throws IllegalArgumentException if there are [#MAX_ELEMENTS] already
  /// @throws IllegalArgumentException if the segment is empty, on the Java heap, or to be written and read-only
  public CopyBatch add(MemorySegment hostMemory, long deviceAddress) {
    requireCopyable(hostMemory);
    requireOwn();
    if (elements == MAX_ELEMENTS) {
      throw new IllegalArgumentException(
          "elements must be <= " + MAX_ELEMENTS + " a batch (was " + (elements + 1) + ")");
    }
    if (elements == host.length) {
      host = Arrays.copyOf(host, Math.min(2 * elements, MAX_ELEMENTS));
      device = Arrays.copyOf(device, host.length);
    }
    host[elements] = hostMemory;
    device[elements++] = deviceAddress;
    bytes += hostMemory.byteSize();
    return this;
  }

  /// Closes `owned` with this batch. Pass a share of the memory that an element reads or writes.
  public CopyBatch hold(Owned owned) {
    requireOwn();
    holds.add(requireNonNull(owned, "owned"));
    return this;
  }

  /// Adds work for the device's thread right before the copies. If it throws, nothing is copied and the error is the
  /// result.
  public CopyBatch before(Runnable work) {
    requireOwn();
    checks.add(requireNonNull(work, "work"));
    return this;
  }

  public CopyDirection direction() {
    return direction;
  }

  public int elements() {
    return elements;
  }

  /// Bytes of all elements.
  public long bytes() {
    return bytes;
  }

  /// The host's side of an element.
  public MemorySegment host(int element) {
    return host[requireElement(element)];
  }

  /// The device's side of an element.
  public long device(int element) {
    return device[requireElement(element)];
  }

  /// Takes this batch over; only a device calls this.
  ///
  /// @throws IllegalArgumentException if it is empty
  /// @throws IllegalStateException if it was taken over or closed before
  public void take() {
    if (elements == 0) {
      throw new IllegalArgumentException("elements must be > 0 (was 0)");
    }
    if (isClosed() || !taken.compareAndSet(false, true)) {
      throw new IllegalStateException("batch must be copied once (was taken or closed before)");
    }
  }

  /// Runs the work of [#before] on the device's thread; only a device calls this.
  public void check() {
    checks.forEach(Runnable::run);
  }

  @Override
  protected void free() {
    holds.forEach(Owned::close);
  }

  private void requireCopyable(MemorySegment memory) {
    if (memory.byteSize() == 0) {
      throw new IllegalArgumentException("bytes of an element must be > 0 (was 0)");
    }
    if (!memory.isNative()) {
      throw new IllegalArgumentException("host memory must be off the Java heap (was " + memory + ")");
    }
    if (direction == CopyDirection.TO_HOST && memory.isReadOnly()) {
      throw new IllegalArgumentException("host memory must be writable for copies to it (was read-only)");
    }
  }

  private void requireOwn() {
    if (isClosed() || taken.get()) {
      throw new IllegalStateException("batch was handed over and can no longer be changed");
    }
  }

  private int requireElement(int element) {
    if (element < 0 || element >= elements) {
      throw new IndexOutOfBoundsException("element must be in [0, " + elements + ") (was " + element + ")");
    }
    return element;
  }

  @Override
  public String toString() {
    return "batch of " + elements + " elements, " + bytes + " bytes " + direction;
  }
}
