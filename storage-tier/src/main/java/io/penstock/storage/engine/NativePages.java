package io.penstock.storage.engine;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import net.openhft.posix.OpenFlag;
import net.openhft.posix.PosixAPI;

/// What must be told to the system about the pages of a mapped file, through Chronicle's own native binding.
///
/// All calls are advice: where the system does not know them (`POPULATE_WRITE` came with Linux 5.14) they answer false,
/// and the caller takes another way.
final class NativePages {
  private static final int POPULATE_WRITE = 23; // MADV_POPULATE_WRITE; in a Linux kernel only
  private static final int DONT_NEED = 4; // MADV_DONTNEED: of a file's pages, this loses nothing
  private static final int NO_SPACE = 28; // ENOSPC
  private static final int BAD_PAGE = 14; // EFAULT: the page cannot be had
  private static final long PAGE_BYTES = PageAdvice.pageBytes();
  private static final boolean LINUX = System.getProperty("os.name", "").startsWith("Linux");

  private NativePages() {}

  /// Where the page begins in which `offset` lies.
  static long pageOf(long offset) {
    return offset & -PAGE_BYTES;
  }

  /// Reserves the first `bytes` of `file` on the medium; its length grows to them.
  ///
  /// @throws IOException if the medium is full
  static boolean reserve(Path file, long bytes) throws IOException {
    if (!LINUX) {
      return false;
    }
    PosixAPI posix = PosixAPI.posix();
    int descriptor = -1;
    try {
      descriptor = posix.open(file.toString(), OpenFlag.O_RDWR, 0);
      return descriptor >= 0 && (posix.fallocate(descriptor, 0, 0, bytes) == 0
          || refused(posix, NO_SPACE, "reserve " + bytes + " bytes", file));
    } catch (RuntimeException e) { // the binding's way to say that the call failed
      return refused(posix, NO_SPACE, "reserve " + bytes + " bytes", file);
    } finally {
      if (descriptor >= 0) {
        posix.close(descriptor);
      }
    }
  }

  /// Makes the pages of `bytes` bytes at `address` present and writable, so that touching them cannot fail or wait.
  ///
  /// @param file that is mapped there, named in the error
  /// @throws IOException if the medium cannot give the pages: touching them would end the process
  static boolean populate(long address, long bytes, Path file) throws IOException {
    if (!LINUX) {
      return false;
    }
    long first = pageOf(address);
    PosixAPI posix = PosixAPI.posix();
    try {
      return posix.madvise(first, address + bytes - first, POPULATE_WRITE) == 0
          || refused(posix, BAD_PAGE, "make a page present", file);
    } catch (RuntimeException e) { // the binding's way to say that the call failed
      return refused(posix, BAD_PAGE, "make a page present", file);
    }
  }

  /// Takes the pages of `bytes` bytes at `address`, which a file is mapped to, out of that mapping; whoever touches one
  /// has it again.
  ///
  /// @param address of a page
  static void unmap(long address, long bytes) {
    if (LINUX) {
      try {
        PosixAPI.posix().madvise(address, pageOf(bytes), DONT_NEED);
      } catch (RuntimeException e) {
        // the pages stay mapped, and so in memory until the system needs them
      }
    }
  }

  /// Has the system take the pages of `file` from `from` to `to` out of its cache, but for those that are not on the
  /// medium yet.
  ///
  /// @return false if the system does not know the call
  /// @throws IOException if the file is gone
  static boolean letGo(Path file, long from, long to) throws IOException {
    long first = pageOf(from);
    long bytes = pageOf(to) - first;
    if (!LINUX || bytes <= 0) {
      return false;
    }
    PosixAPI posix = PosixAPI.posix();
    int descriptor = -1;
    try {
      descriptor = posix.open(file.toString(), OpenFlag.O_RDONLY, 0);
      return PageAdvice.letGo(descriptor, first, bytes);
    } catch (RuntimeException e) { // the binding's way to say that the call failed
      throw new IOException("open of " + file + " failed: " + posix.lastErrorStr(), e);
    } finally {
      if (descriptor >= 0) {
        posix.close(descriptor);
      }
    }
  }

  /// The same of all of `file`.
  static boolean letGoAll(Path file) throws IOException {
    return letGo(file, 0, Files.size(file) + PAGE_BYTES - 1);
  }

  /// Opens `file` to give advice on it; below 0 where there is none to give.
  static int openToAdvise(Path file) {
    try {
      return LINUX ? PosixAPI.posix().open(file.toString(), OpenFlag.O_RDONLY, 0) : -1;
    } catch (RuntimeException e) { // the binding's way to say that the call failed
      return -1;
    }
  }

  static void close(int descriptor) {
    PosixAPI.posix().close(descriptor);
  }

  /// Fills `parts`, one after the other, from `offset` of `file` on, without the system reading further than that.
  ///
  /// @return false if it could not be done, for whatever reason; the parts may have anything then
  static boolean readJustThat(Path file, long offset, MemorySegment[] parts) {
    int descriptor = openToAdvise(file);
    if (descriptor < 0) {
      return false;
    }
    try {
      return PageAdvice.read(descriptor, offset, parts);
    } finally {
      close(descriptor);
    }
  }

  /// False if the system does not know the call, or does not allow it here.
  private static boolean refused(PosixAPI posix, int fatal, String work, Path file) throws IOException {
    if (posix.lastError() == fatal) {
      throw new IOException(work + " of " + file + " failed: " + posix.lastErrorStr());
    }
    return false;
  }
}
