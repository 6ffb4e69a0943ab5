package io.penstock.device.ascend;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.CopyBatch;
import io.penstock.device.ascend.acl.AclFunction;
import io.penstock.device.ascend.acl.AclLayouts;
import io.penstock.device.ascend.acl.AclLibrary;
import io.penstock.device.ascend.acl.MemoryPlace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The three copy calls, with native memory for the arguments of one batch. For one thread, whose context is that of
/// the device.
final class AclCopies {
  private static final int MOST = CopyBatch.MAX_ELEMENTS;
  /// Answer of the library when no single element is to blame.
  private static final long NO_INDEX = -1;
  private static final long TO = AclLayouts.offset(AclLayouts.BATCH_ATTRIBUTE, "dstLoc");
  private static final long FROM = AclLayouts.offset(AclLayouts.BATCH_ATTRIBUTE, "srcLoc");
  private static final long ID = AclLayouts.offset(AclLayouts.LOCATION, "id");
  private static final long TYPE = AclLayouts.offset(AclLayouts.LOCATION, "type");

  private final MethodHandle memcpy;
  private final MethodHandle memcpyAsync;
  private final MethodHandle memcpyBatch;
  private final MemorySegment to;
  private final MemorySegment from;
  private final MemorySegment sizes;
  private final MemorySegment attribute;
  private final MemorySegment attributeIndex;
  private final MemorySegment failIndex;
  private int elements;

  /// @param arena lives as long as this
  AclCopies(AclLibrary library, Arena arena) {
    this.memcpy = library.handle(AclFunction.MEMCPY);
    this.memcpyAsync = library.handle(AclFunction.MEMCPY_ASYNC);
    this.memcpyBatch = library.handle(AclFunction.MEMCPY_BATCH);
    this.to = arena.allocate(JAVA_LONG, MOST);
    this.from = arena.allocate(JAVA_LONG, MOST);
    this.sizes = arena.allocate(JAVA_LONG, MOST);
    this.attribute = arena.allocate(AclLayouts.BATCH_ATTRIBUTE);
    this.attributeIndex = arena.allocate(JAVA_LONG);
    this.failIndex = arena.allocate(JAVA_LONG);
  }

  /// Begins a batch, all of it from `source` to `target`.
  void begin(MemoryPlace source, MemoryPlace target) {
    elements = 0;
    state(TO, target);
    state(FROM, source);
  }

  private void state(long location, MemoryPlace place) {
    attribute.set(JAVA_INT, location + ID, place.id());
    attribute.set(JAVA_INT, location + TYPE, place.type());
  }

  /// Adds one copy of at most 4,096.
  void add(long source, long target, long bytes) {
    to.setAtIndex(JAVA_LONG, elements, target);
    from.setAtIndex(JAVA_LONG, elements, source);
    sizes.setAtIndex(JAVA_LONG, elements++, bytes);
  }

  /// Makes the copies that were added, in no order.
  ///
  /// @return the code
  int batch() {
    failIndex.set(JAVA_LONG, 0, NO_INDEX);
    try {
      return (int) memcpyBatch.invokeExact(to, sizes, from, sizes, (long) elements, attribute, attributeIndex, 1L,
          failIndex);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// Number of the element in the last batch that failed, −1 if the library named none.
  int failIndex() {
    long index = failIndex.get(JAVA_LONG, 0);
    return index >= 0 && index < elements ? (int) index : (int) NO_INDEX;
  }

  int async(long source, long target, long bytes, CopyKind kind, MemorySegment stream) {
    try {
      return (int) memcpyAsync.invokeExact(target, bytes, source, bytes, kind.number(), stream);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  int sync(long source, long target, long bytes, CopyKind kind) {
    try {
      return (int) memcpy.invokeExact(target, bytes, source, bytes, kind.number());
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }
}
