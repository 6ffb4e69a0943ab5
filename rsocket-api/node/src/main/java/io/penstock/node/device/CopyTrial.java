package io.penstock.node.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.device.ascend.AscendDevice;
import io.penstock.device.ascend.CopyReport;
import io.penstock.device.ascend.CopyRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

/// Copies of one device that are tried: areas of host and device memory, each with a place for every element.
final class CopyTrial implements AutoCloseable {
  private final AscendDevice device;
  private final int elements;
  private final long bytes;
  private final IntFunction<CopyWay> way;
  private final Arena memory = Arena.ofShared();
  private final BlockScope scope = new BlockScope();
  private final MemorySegment source;
  private final MemorySegment target;
  private final long there;
  private final long elsewhere;

  /// @param way of each element
  /// @throws io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException if the device has not as much; an
  ///     `OutOfMemoryError` if the host has not
  CopyTrial(AscendDevice device, int elements, long bytes, IntFunction<CopyWay> way) {
    this.device = device;
    this.elements = elements;
    this.bytes = bytes;
    this.way = way;
    long all = Math.multiplyExact(bytes, (long) elements);
    try {
      this.there = allocate(all); // the device first: it has less, and says so before the host's is touched
      this.elsewhere = allocate(all);
      this.source = memory.allocate(all, 64);
      this.target = memory.allocate(all, 64);
      SplittableRandom random = new SplittableRandom(all);
      for (long at = 0; at + 8 <= all; at += 8) {
        source.set(JAVA_LONG, at, random.nextLong());
      }
      know(source);
      know(target);
      if (hasAny(true)) {
        run(upload());
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private long allocate(long all) {
    return requireNonNull(device.allocate(all, scope).block(), "memory").address();
  }

  private void know(MemorySegment host) {
    device.know(host).block();
  }

  private boolean hasAny(boolean fromDevice) {
    for (int i = 0; i < elements; i++) {
      if (way.apply(i).fromDevice() == fromDevice) {
        return true;
      }
    }
    return false;
  }

  private CopyRequest upload() {
    CopyRequest request = new CopyRequest(elements);
    for (int i = 0; i < elements; i++) {
      request.add(source.address() + at(i), there + at(i), bytes);
    }
    return request;
  }

  private long at(int element) {
    return element * bytes;
  }

  /// The copies of the trial.
  CopyRequest request() {
    CopyRequest request = new CopyRequest(elements);
    for (int i = 0; i < elements; i++) {
      CopyWay each = way.apply(i);
      request.add((each.fromDevice() ? there : source.address()) + at(i),
          (each.toDevice() ? elsewhere : target.address()) + at(i), bytes);
    }
    return request;
  }

  CopyReport run(CopyRequest request) {
    return requireNonNull(device.copy(request).block(), "report");
  }

  /// Copies the data back from the device and compares all of it.
  ///
  /// @return elements whose bytes differ from those of the source
  int differing() {
    CopyRequest back = new CopyRequest(elements);
    for (int i = 0; i < elements; i++) {
      if (way.apply(i).toDevice()) {
        back.add(elsewhere + at(i), target.address() + at(i), bytes);
      }
    }
    if (back.elements() > 0) {
      run(back);
    }
    int differing = 0;
    for (int i = 0; i < elements; i++) {
      differing += MemorySegment.mismatch(source, at(i), at(i) + bytes, target, at(i), at(i) + bytes) < 0 ? 0 : 1;
    }
    return differing;
  }

  @Override
  public void close() {
    scope.close();
    device.close().block();
    memory.close();
  }
}
