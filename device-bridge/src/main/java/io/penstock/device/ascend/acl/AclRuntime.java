package io.penstock.device.ascend.acl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.ascend.failure.AclCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Life of the library, its devices, contexts and streams. Contexts and devices belong to the thread that sets them;
/// nothing here may be called from a thread that can move.
public final class AclRuntime {
  /// Fast launch and fast synchronisation.
  private static final int FAST = 0x3;
  private static final int REPEAT_INITIALIZE = 100_002;
  private static final int HBM = 1;

  private final AclLibrary library;
  private final MethodHandle init;
  private final MethodHandle finish;
  private final MethodHandle deviceCount;
  private final MethodHandle physicalId;
  private final MethodHandle memoryInfo;
  private final MethodHandle createContext;
  private final MethodHandle destroyContext;
  private final MethodHandle setContext;
  private final MethodHandle getContext;
  private final MethodHandle createStream;
  private final MethodHandle createStreamWithConfig;
  private final MethodHandle destroyStream;
  private final MethodHandle synchronize;
  private final MethodHandle synchronizeWithTimeout;
  private final MethodHandle abortStream;

  public AclRuntime(AclLibrary library) {
    this.library = library;
    this.init = library.handle(AclFunction.INIT);
    this.finish = library.handle(AclFunction.FINALIZE);
    this.deviceCount = library.handle(AclFunction.DEVICE_COUNT);
    this.physicalId = library.handle(AclFunction.PHYSICAL_ID);
    this.memoryInfo = library.handle(AclFunction.MEMORY_INFO);
    this.createContext = library.handle(AclFunction.CREATE_CONTEXT);
    this.destroyContext = library.handle(AclFunction.DESTROY_CONTEXT);
    this.setContext = library.handle(AclFunction.SET_CONTEXT);
    this.getContext = library.handle(AclFunction.GET_CONTEXT);
    this.createStream = library.handle(AclFunction.CREATE_STREAM);
    this.createStreamWithConfig = library.handle(AclFunction.CREATE_STREAM_WITH_CONFIG);
    this.destroyStream = library.handle(AclFunction.DESTROY_STREAM);
    this.synchronize = library.handle(AclFunction.SYNCHRONIZE_STREAM);
    this.synchronizeWithTimeout = library.handle(AclFunction.SYNCHRONIZE_STREAM_WITH_TIMEOUT);
    this.abortStream = library.handle(AclFunction.ABORT_STREAM);
  }

  public AclLibrary library() {
    return library;
  }

  /// Initialises the library.
  ///
  /// @return false if other code of this process has initialised it and will finalise it
  public boolean begin() {
    try {
      int code = (int) init.invokeExact(MemorySegment.NULL);
      if (code != REPEAT_INITIALIZE) {
        library.check(AclFunction.INIT, code);
      }
      return code == AclCode.OK;
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  public void end() {
    try {
      library.check(AclFunction.FINALIZE, (int) finish.invokeExact());
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  public String socName() {
    return library.text(AclFunction.SOC_NAME);
  }

  public int devices() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(JAVA_INT);
      library.check(AclFunction.DEVICE_COUNT, (int) deviceCount.invokeExact(count));
      return count.get(JAVA_INT, 0);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// Returns the machine's number of the device that this process calls `logical`; `logical` itself if the library
  /// cannot answer.
  public int physicalId(int logical) {
    if (!library.has(AclFunction.PHYSICAL_ID)) {
      return logical;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment id = arena.allocate(JAVA_INT);
      library.check(AclFunction.PHYSICAL_ID, (int) physicalId.invokeExact(logical, id));
      return id.get(JAVA_INT, 0);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// Memory of the device of this thread's context, in bytes.
  public record Memory(long free, long total) {
    static final Memory UNKNOWN = new Memory(Long.MAX_VALUE, Long.MAX_VALUE);
  }

  public Memory memory() {
    if (!library.has(AclFunction.MEMORY_INFO)) {
      return Memory.UNKNOWN;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment free = arena.allocate(JAVA_LONG);
      MemorySegment total = arena.allocate(JAVA_LONG);
      library.check(AclFunction.MEMORY_INFO, (int) memoryInfo.invokeExact(HBM, free, total));
      return new Memory(free.get(JAVA_LONG, 0), total.get(JAVA_LONG, 0));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// A context of `device`, which is this thread's from now on.
  public MemorySegment createContext(int device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment context = arena.allocate(ADDRESS);
      library.check(AclFunction.CREATE_CONTEXT, (int) createContext.invokeExact(context, device));
      return context.get(ADDRESS, 0);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  public void destroyContext(MemorySegment context) {
    try {
      if (library.has(AclFunction.DESTROY_CONTEXT)) {
        library.check(AclFunction.DESTROY_CONTEXT, (int) destroyContext.invokeExact(context));
      }
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  public void setContext(MemorySegment context) {
    try {
      library.check(AclFunction.SET_CONTEXT, (int) setContext.invokeExact(context));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// This thread's context, `NULL` if it has none.
  public MemorySegment context() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment context = arena.allocate(ADDRESS);
      int code = (int) getContext.invokeExact(context);
      if (code == AclCode.RT_CONTEXT_NULL.number()) {
        return MemorySegment.NULL;
      }
      library.check(AclFunction.GET_CONTEXT, code);
      return context.get(ADDRESS, 0);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// A stream of this thread's context.
  public MemorySegment createStream() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stream = arena.allocate(ADDRESS);
      if (library.has(AclFunction.CREATE_STREAM_WITH_CONFIG)) {
        library.check(AclFunction.CREATE_STREAM_WITH_CONFIG, (int) createStreamWithConfig.invokeExact(stream, 0, FAST));
      } else {
        library.check(AclFunction.CREATE_STREAM, (int) createStream.invokeExact(stream));
      }
      return stream.get(ADDRESS, 0);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  public void destroyStream(MemorySegment stream) {
    try {
      library.check(AclFunction.DESTROY_STREAM, (int) destroyStream.invokeExact(stream));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// Waits until all of `stream` was done.
  ///
  /// @param millis longest wait; a library that cannot bound it waits as long as it takes
  /// @return the code
  public int synchronize(MemorySegment stream, int millis) {
    try {
      return library.has(AclFunction.SYNCHRONIZE_STREAM_WITH_TIMEOUT)
          ? (int) synchronizeWithTimeout.invokeExact(stream, millis)
          : (int) synchronize.invokeExact(stream);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// Aborts the work that is queued on `stream`.
  ///
  /// @return the code; that of a feature that is unsupported if the library cannot
  public int abort(MemorySegment stream) {
    if (!library.has(AclFunction.ABORT_STREAM)) {
      return AclCode.FEATURE_UNSUPPORTED.number();
    }
    try {
      return (int) abortStream.invokeExact(stream);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }
}
