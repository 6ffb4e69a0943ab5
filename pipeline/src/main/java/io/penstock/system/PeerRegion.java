package io.penstock.system;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/// A [SharedRegion] of another process, mapped to be read. The system lets a process map it that could read the memory
/// of the other one by other means, too: one of the same user, with the same process numbers.
///
/// The region is checked before it is mapped: a memfd of plain pages that no process can shrink, so that a read never
/// ends this process.
public final class PeerRegion implements AutoCloseable {
  /// A longer region is refused.
  static final long MOST_BYTES = 1L << 40;

  private final Arena arena;
  private final MemorySegment all;

  private PeerRegion(Arena arena, MemorySegment all) {
    this.arena = arena;
    this.all = all;
  }

  /// Maps the region with `descriptor` in `process`.
  ///
  /// @throws IOException if it cannot be read, or is no region of this kind
  public static PeerRegion map(long process, int descriptor, SharedRegion.Kind kind) throws IOException {
    Path path = Path.of("/proc/" + process + "/fd/" + descriptor);
    requireRegion(path);
    try (NativeFile file = NativeFile.openToRead(path)) {
      long bytes = file.bytes();
      require(file.isPlainMemory() && file.mayNotShrink());
      require(bytes >= SharedRegion.HEADER_BYTES && bytes <= MOST_BYTES);
      Arena arena = Arena.ofShared();
      try {
        return new PeerRegion(arena, file.mapToRead(bytes, arena)).require(kind);
      } catch (IOException e) {
        arena.close();
        throw e;
      }
    } catch (SystemCallException e) {
      throw refused(e);
    }
  }

  /// Opening anything else could wait, or do something.
  private static void requireRegion(Path path) throws IOException {
    String target;
    try {
      target = Files.readSymbolicLink(path).toString();
    } catch (IOException e) {
      throw refused(e);
    }
    require(target.startsWith("/memfd:" + SharedRegion.PREFIX));
  }

  private PeerRegion require(SharedRegion.Kind kind) throws IOException {
    require(all.get(JAVA_LONG, 0) == SharedRegion.MAGIC
        && all.get(JAVA_INT, SharedRegion.KIND_OFFSET) == kind.number());
    return this;
  }

  private static void require(boolean holds) throws IOException {
    if (!holds) {
      throw refused(null);
    }
  }

  /// One sentence, whatever is there: the peer that named the region may hear it, and must not learn which processes
  /// and descriptors this host has.
  private static IOException refused(@Nullable Throwable cause) {
    return new IOException("memory of the peer must be a region of Penstock, readable by the same user with the same "
        + "process numbers (was not)", cause);
  }

  /// All memory of the region, with the header, read-only, until it is closed.
  public MemorySegment memory() {
    return all;
  }

  public byte[] token() {
    return all.asSlice(SharedRegion.TOKEN_OFFSET, SharedRegion.TOKEN_BYTES).toArray(ValueLayout.JAVA_BYTE);
  }

  public boolean hasToken(byte[] token) {
    return MessageDigest.isEqual(token(), token);
  }

  /// Unmaps it; a read that runs on another thread fails.
  @Override
  public void close() {
    arena.close();
  }
}
