package io.penstock.device.sidecar;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import io.penstock.device.sidecar.RegionSource.MappedFile;
import io.penstock.device.sidecar.RegionSource.Memfd;
import io.penstock.system.NativeFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/// Host memory of this process that a node can be given. Linux only.
///
/// Closing it while the node has it mapped takes nothing from the node, which has a mapping of its own.
public final class RegionMemory implements AutoCloseable {
  private final NativeFile file;
  private final RegionSource source;
  private final Arena arena;
  private final MemorySegment memory;
  @GuardedBy("this") private boolean closed;

  private RegionMemory(NativeFile file, RegionSource source, Arena arena, MemorySegment memory) {
    this.file = file;
    this.source = source;
    this.arena = arena;
    this.memory = memory;
  }

  /// New memory, zeroed, behind a memfd whose size is sealed: the node copies to and from it at memory's speed.
  ///
  /// @param name shown in `/proc`
  public static RegionMemory allocate(String name, long bytes) throws IOException {
    Checks.positive("bytes", bytes);
    NativeFile file = NativeFile.memfd(name, bytes);
    try {
      file.sealLength();
    } catch (IOException e) {
      file.close();
      throw e;
    }
    return map(file, new Memfd(file.number()), bytes);
  }

  /// Maps the first `bytes` of a file, which grows to that length. The node reads and writes the file instead of
  /// mapping it, since a file may be cut short at any time. Prefer [#allocate].
  ///
  /// @param path a regular file of this user
  public static RegionMemory map(Path path, long bytes) throws IOException {
    Checks.positive("bytes", bytes);
    Path whole = path.toAbsolutePath().normalize();
    NativeFile file = NativeFile.openNoLink(whole);
    if (file.bytes() < bytes) {
      file.resize(bytes);
    }
    return map(file, new MappedFile(whole), bytes);
  }

  private static RegionMemory map(NativeFile file, RegionSource source, long bytes) throws IOException {
    Arena arena = Arena.ofShared();
    try {
      return new RegionMemory(file, source, arena, file.map(bytes, arena));
    } catch (IOException e) {
      arena.close();
      file.close();
      throw e;
    }
  }

  /// The memory as this process sees it, until it is closed.
  public MemorySegment memory() {
    return memory;
  }

  /// Description of the memory for a node.
  ///
  /// @param id number that copies name it by
  public RegionSpec region(long id) {
    return new RegionSpec(id, memory.byteSize(), source);
  }

  /// Unmaps it here. Idempotent.
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      arena.close();
      file.close();
    }
  }
}
