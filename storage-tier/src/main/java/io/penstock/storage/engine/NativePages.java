package io.penstock.storage.engine;

import io.penstock.system.NativeFile;
import io.penstock.system.NativeMemory;
import io.penstock.system.SystemCallException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// System calls on the pages of files.
///
/// All calls are advice. Where the system does not know a call (`POPULATE_WRITE` came with Linux 5.14), nothing
/// happens, and the caller takes another way.
public final class NativePages {
  private static final NativeMemory MEMORY = NativeMemory.ofSystem();
  private static final long PAGE_BYTES = MEMORY.pageBytes();

  private NativePages() {}

  /// The beginning of the page that has `offset`.
  public static long pageOf(long offset) {
    return offset & -PAGE_BYTES;
  }

  /// Reserves `bytes` for `file` on the medium, and makes it that long.
  ///
  /// @throws IOException if the medium is full
  public static void reserve(Path file, long bytes) throws IOException {
    try (NativeFile open = NativeFile.open(file)) {
      open.reserve(bytes);
    } catch (SystemCallException e) {
      throwIf(SystemCallException.ENOSPC, e, "reserve " + bytes + " bytes", file);
    }
  }

  /// Makes the pages of `bytes` bytes at `address` present and writable: to touch them then neither fails nor waits.
  ///
  /// @param file that is mapped there; for the error
  /// @throws IOException if the medium does not give the pages: to touch them would end the process
  public static void populate(long address, long bytes, Path file) throws IOException {
    long first = pageOf(address);
    try {
      MEMORY.advise(first, address + bytes - first, NativeMemory.Advice.POPULATE_WRITE);
    } catch (SystemCallException e) {
      throwIf(SystemCallException.EFAULT, e, "make a page present", file);
    }
  }

  private static void throwIf(int fatal, SystemCallException e, String work, Path file) throws IOException {
    if (e.errno() == fatal) {
      throw new IOException(work + " of " + file + " failed: " + e.getMessage(), e);
    }
  }

  /// Takes mapped pages of a file out of the mapping; the next touch maps them again.
  ///
  /// @param address of a page
  public static void unmap(long address, long bytes) {
    try {
      MEMORY.advise(address, pageOf(bytes), NativeMemory.Advice.DONT_NEED);
    } catch (SystemCallException e) {
      // the pages stay until the system needs them
    }
  }

  /// Takes the pages of `file` from `from` to `to` out of the page cache, but for those that are not on the medium.
  ///
  /// @throws IOException if the file is gone
  public static void letGo(Path file, long from, long to) throws IOException {
    long first = pageOf(from);
    long bytes = pageOf(to) - first;
    if (bytes <= 0 || NativeMemory.absence().isPresent()) {
      return;
    }
    try (NativeFile open = NativeFile.openToRead(file)) {
      advise(open, first, bytes, NativeFile.Advice.DONT_NEED);
    }
  }

  /// Takes all pages of `file` out of the page cache.
  public static void letGoAll(Path file) throws IOException {
    letGo(file, 0, Files.size(file) + PAGE_BYTES - 1);
  }

  /// Opens `file` for advice and reads; null where the system has no such calls.
  public static @Nullable NativeFile openToAdvise(Path file) {
    try {
      return NativeFile.openToRead(file);
    } catch (SystemCallException e) {
      return null;
    }
  }

  /// Gives advice on a range of `file`.
  ///
  /// @return false if the system refused
  static boolean advise(NativeFile file, long offset, long bytes, NativeFile.Advice advice) {
    try {
      file.advise(offset, bytes, advice);
      return true;
    } catch (SystemCallException e) {
      return false;
    }
  }

  /// Fills `parts` in turn from `offset` on by one call, so that the system fetches all bytes at once.
  ///
  /// @return false if the file did not give all bytes; the parts are undefined then
  public static boolean readAtOnce(NativeFile file, long offset, MemorySegment[] parts) {
    try {
      return file.read(offset, parts) == RecordParts.bytes(parts);
    } catch (SystemCallException e) {
      return false;
    }
  }

  /// Reads by one call without readahead behind the parts.
  public static boolean readWithoutReadahead(Path path, long offset, MemorySegment[] parts) {
    try (NativeFile file = openToAdvise(path)) {
      return file != null && advise(file, 0, 0, NativeFile.Advice.RANDOM) && readAtOnce(file, offset, parts);
    }
  }
}
