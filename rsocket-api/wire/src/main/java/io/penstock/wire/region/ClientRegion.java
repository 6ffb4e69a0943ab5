package io.penstock.wire.region;

import io.penstock.carrier.PeerMemoryException;
import io.penstock.system.HoldCount;
import io.penstock.system.NativeFile;
import io.penstock.system.SystemCallException;
import io.penstock.wire.protocol.WireFormatException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/// A file of a client in shared memory, mapped by the node.
///
/// Its owner may make it shorter at any time, and the system then ends whatever touches what is gone. So only
/// [MemorySegment#copy] touches the mapping, in pieces that the JVM copies by a call which reports that as an
/// `InternalError`; checksums are computed where the bytes were copied from, or to. Such a piece is a refusal, and the
/// other requests go on.
///
/// The file is locked, beside other openings, until no copy runs: a client that gets the lock for itself knows that the
/// node has ended, and touches no slot any more. Safe from any thread.
final class ClientRegion {
  /// Copies of fewer bytes are not made by one call. Blocks have more.
  static final int LEAST_BYTES = 4096;

  private final NativeFile file;
  private final Arena arena;
  private final MemorySegment memory;
  private final long stride;
  private final HoldCount holds = new HoldCount();

  private ClientRegion(NativeFile file, Arena arena, MemorySegment memory, long stride) {
    this.file = file;
    this.arena = arena;
    this.memory = memory;
    this.stride = stride;
    holds.first();
  }

  /// Maps the file that `request` names.
  ///
  /// @throws WireFormatException if it is no plain file of this user in shared memory, directly in `folder`, of so many
  ///     bytes, or not the one that the client has
  /// @throws PeerMemoryException if the system refuses it now
  static ClientRegion map(Path folder, RegionMessages.RegionRequest request) {
    Path path = inside(folder, request.path());
    NativeFile file;
    try {
      file = NativeFile.openNoLink(path);
    } catch (SystemCallException e) {
      throw refused("a file that the node can open, and no link", String.valueOf(e.getMessage()));
    }
    Arena arena = Arena.ofShared();
    try {
      requireMemory(file);
      requireSame(file, request);
      long length = file.bytes();
      if (length < request.bytes()) {
        throw WireFormatException.request("bytes", "<= those of the file, " + length, request.bytes());
      } else if (!file.tryShare()) {
        throw new PeerMemoryException("the region must not be locked by another (was locked)", null);
      }
      return new ClientRegion(file, arena, file.map(request.bytes(), arena), request.stride());
    } catch (IOException e) {
      end(file, arena);
      throw new PeerMemoryException(String.valueOf(e.getMessage()), e);
    } catch (RuntimeException | Error e) {
      end(file, arena);
      throw e;
    }
  }

  private static WireFormatException refused(String rule, Object value) {
    return WireFormatException.request("path", rule, value);
  }

  private static Path inside(Path folder, String named) {
    String prefix = folder + "/";
    String name = named.startsWith(prefix) ? named.substring(prefix.length()) : "";
    if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('/') >= 0 || name.indexOf('\0') >= 0) {
      throw refused("that of a file directly in " + folder, named);
    }
    return folder.resolve(name);
  }

  private static void requireMemory(NativeFile file) throws IOException {
    Path opened = file.shown();
    if (!Files.isRegularFile(opened) || !file.isPlainMemory()) {
      throw refused("that of a plain file in shared memory", "another");
    } else if (!Files.getAttribute(opened, "unix:uid")
        .equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid", LinkOption.NOFOLLOW_LINKS))) {
      throw refused("that of a file of the node's user", "one of another user");
    }
  }

  /// Another file may have the name by now, or in the folder that the node sees: the client's lock would not be ours.
  private static void requireSame(NativeFile file, RegionMessages.RegionRequest request) throws IOException {
    Path opened = file.shown();
    boolean isSame = (request.device() == null || request.device().equals(Files.getAttribute(opened, "unix:dev")))
        && (request.inode() == null || request.inode().equals(Files.getAttribute(opened, "unix:ino")));
    if (!isSame) {
      throw refused("that of the file which the client has", "of another file");
    }
  }

  /// Number of its slots.
  long slots() {
    return memory.byteSize() / stride;
  }

  /// @throws WireFormatException if blocks of `bytes` do not fit its slots
  void requireFits(long bytes) {
    if (bytes > stride || bytes < LEAST_BYTES) {
      throw WireFormatException.request("stride", "in which blocks of [" + LEAST_BYTES + ", " + stride + "] bytes lie",
          "for blocks of " + bytes);
    }
  }

  /// Copies from a slot, piece by piece, until all is copied or `stopped`.
  ///
  /// @param most bytes of a piece, at least twice [#LEAST_BYTES]
  void read(int slot, MemorySegment to, int most, BooleanSupplier stopped) {
    long from = slot * stride;
    pieces(to.byteSize(), most, stopped, (at, bytes) -> MemorySegment.copy(memory, from + at, to, at, bytes));
  }

  /// Copies to a slot, as [#read] does.
  void write(MemorySegment from, int slot, int most, BooleanSupplier stopped) {
    long to = slot * stride;
    pieces(from.byteSize(), most, stopped, (at, bytes) -> MemorySegment.copy(from, at, memory, to + at, bytes));
  }

  private interface Piece {
    void copy(long at, long bytes);
  }

  private void pieces(long bytes, int most, BooleanSupplier stopped, Piece piece) {
    requireWhole();
    long usual = most / 2;
    for (long at = 0; at < bytes && !stopped.getAsBoolean();) {
      long left = bytes - at;
      long now = left < most ? left : usual; // no piece is short, but a last one
      try {
        piece.copy(at, now);
      } catch (InternalError e) { // a page has gone
        throw gone();
      }
      at += now;
    }
    requireWhole(); // the JVM may report the last piece only later
  }

  private void requireWhole() {
    try {
      if (file.bytes() < memory.byteSize()) {
        throw gone();
      }
    } catch (SystemCallException e) {
      throw new PeerMemoryException(String.valueOf(e.getMessage()), e);
    }
  }

  /// What is told of a copy that the JVM reports as an `InternalError`, perhaps only after the copy.
  WireFormatException gone() {
    return WireFormatException.request("region", "as long as it was mapped, " + memory.byteSize() + " bytes",
        "shorter, or without memory");
  }

  /// Keeps the mapping for one copy; false if it has ended.
  boolean retain() {
    return holds.retain();
  }

  /// Ends a hold; the last one unmaps the file and unlocks it.
  void release() {
    if (holds.release()) {
      end(file, arena);
    }
  }

  private static void end(NativeFile file, Arena arena) {
    try {
      arena.close();
    } finally {
      file.close();
    }
  }
}
