package io.penstock.device.ascend.acl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.SharedName.IpcKey;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Device memory of other processes by key. All calls need a context on the thread.
///
/// The exporting process closes its key, too, after the last importer has closed; only then may it free the memory.
public final class AclIpc {
  /// Any process with the key may use it: its users are not known beforehand.
  private static final long WITHOUT_LIST_OF_PROCESSES = 1;
  private static final long WITH_PEER_ACCESS = 1;

  private final AclLibrary library;
  private final MethodHandle export;
  private final MethodHandle open;
  private final MethodHandle close;

  public AclIpc(AclLibrary library) {
    this.library = library;
    this.export = library.handle(AclFunction.IPC_EXPORT);
    this.open = library.handle(AclFunction.IPC_IMPORT);
    this.close = library.handle(AclFunction.IPC_CLOSE);
  }

  public IpcKey export(long address, long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocate(IpcKey.BYTES);
      library.check(AclFunction.IPC_EXPORT,
          (int) export.invokeExact(MemorySegment.ofAddress(address), bytes, key, (long) IpcKey.BYTES,
              WITHOUT_LIST_OF_PROCESSES));
      return IpcKey.of(key.toArray(JAVA_BYTE));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// Address of the memory in this process.
  public long open(IpcKey key) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment pointer = arena.allocate(ADDRESS);
      library.check(AclFunction.IPC_IMPORT,
          (int) open.invokeExact(pointer, arena.allocateFrom(JAVA_BYTE, key.bytes()), WITH_PEER_ACCESS));
      return pointer.get(JAVA_LONG, 0);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  public void close(IpcKey key) {
    try (Arena arena = Arena.ofConfined()) {
      library.check(AclFunction.IPC_CLOSE, (int) close.invokeExact(arena.allocateFrom(JAVA_BYTE, key.bytes())));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }
}
