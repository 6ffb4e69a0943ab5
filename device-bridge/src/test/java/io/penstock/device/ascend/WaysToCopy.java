package io.penstock.device.ascend;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.device.ascend.acl.AclLayouts;
import io.penstock.device.ascend.acl.MemoryPlace;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Memory to copy to a device, and three ways to do it: through the bridge, by a loop in C that makes the same call to
/// the same double of the driver, and by `memcpy` alone. The double records nothing meanwhile. For one thread.
final class WaysToCopy implements AutoCloseable {
  private final BlockScope scope = new BlockScope();
  private final Arena memory = Arena.ofShared();
  private final int elements;
  private final long bytes;
  private final AscendDevices devices;
  private final AscendDevice device;
  private final MemorySegment source;
  private final long there;
  private final MemorySegment to;
  private final MemorySegment from;
  private final MemorySegment sizes;
  private final MemorySegment attribute;
  private final MethodHandle loop;
  private final MethodHandle memcpy;

  /// @param bytes of each element
  WaysToCopy(int elements, long bytes) throws Throwable {
    this.elements = elements;
    this.bytes = bytes;
    DriverDouble driver = DriverDouble.of(Profile.CANN_90).reset(1, 2L << 30);
    driver.record(false);
    devices =
        AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
    device = requireNonNull(devices.open(0).block());
    source = memory.allocate(elements * bytes, 4096).fill((byte) 7);
    device.know(source).block();
    there = requireNonNull(device.allocate(elements * bytes, scope).block()).address();
    to = memory.allocate(JAVA_LONG, elements);
    from = memory.allocate(JAVA_LONG, elements);
    sizes = memory.allocate(JAVA_LONG, elements);
    for (int i = 0; i < elements; i++) {
      to.setAtIndex(JAVA_LONG, i, there + i * bytes);
      from.setAtIndex(JAVA_LONG, i, source.address() + i * bytes);
      sizes.setAtIndex(JAVA_LONG, i, bytes);
    }
    attribute = memory.allocate(AclLayouts.BATCH_ATTRIBUTE);
    attribute.set(JAVA_INT, AclLayouts.offset(AclLayouts.LOCATION, "type"), new MemoryPlace(0).type());
    loop = driver.handle("double_loop",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));
    memcpy = driver.handle("double_memcpy", FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));
    driver.handle("aclrtSetDevice", FunctionDescriptor.of(JAVA_INT, JAVA_INT)).invokeWithArguments(0);
  }

  AscendDevice device() {
    return device;
  }

  /// The first `count` elements, for the bridge.
  CopyRequest request(int count) {
    CopyRequest request = new CopyRequest(count);
    for (int i = 0; i < count; i++) {
      request.add(source.address() + i * bytes, there + i * bytes, bytes);
    }
    return request;
  }

  /// @return answer of the driver, 0 for success
  int loopInC(int batches) throws Throwable {
    return (int) loop.invokeExact(batches, to, from, sizes, (long) elements, attribute);
  }

  void memcpyInC(int batches) throws Throwable {
    memcpy.invokeExact(batches, to, from, sizes, (long) elements);
  }

  @Override
  public void close() {
    scope.close();
    device.close().block();
    devices.close().block();
    memory.close();
  }
}
