package io.penstock.storage.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jnr.ffi.LibraryLoader;
import org.jspecify.annotations.Nullable;

/// The calls of the system's library that Chronicle's binding leaves out, through the same binder.
final class PageAdvice {
  private static final int WILL_NEED = 3; // POSIX_FADV_WILLNEED
  private static final int DONT_NEED = 4; // POSIX_FADV_DONTNEED
  private static final int RANDOM = 1; // POSIX_FADV_RANDOM: nothing is read ahead
  private static final int USUAL_PAGE_BYTES = 4096;
  private static final @Nullable Calls CALLS = load();

  private PageAdvice() {}

  /// As the binder wants it: public, with the names of the library.
  public interface Calls {
    int posix_fadvise(int descriptor, long offset, long bytes, int advice);

    int getpagesize();

    long pread(int descriptor, long address, long bytes, long offset);

    long preadv(int descriptor, long vectors, int count, long offset);
  }

  private static @Nullable Calls load() {
    try {
      return LibraryLoader.create(Calls.class).failImmediately().load("c");
    } catch (LinkageError | RuntimeException e) {
      return null; // the pages stay until the system needs them
    }
  }

  /// Has the system begin to read these bytes of a file into its cache; waits for nothing.
  static void fetch(int descriptor, long offset, long bytes) {
    Calls calls = CALLS;
    if (calls != null) {
      calls.posix_fadvise(descriptor, offset, bytes, WILL_NEED);
    }
  }

  /// Fills `parts`, one after the other, from `offset` of a file on, without the system reading ahead of it.
  ///
  /// @return false if it did not
  static boolean read(int descriptor, long offset, MemorySegment[] parts) {
    Calls calls = CALLS;
    if (calls == null || calls.posix_fadvise(descriptor, 0, 0, RANDOM) != 0) {
      return false;
    }
    long at = offset;
    for (MemorySegment part : parts) {
      for (long done = 0; done < part.byteSize();) {
        long count = calls.pread(descriptor, part.address() + done, part.byteSize() - done, at + done);
        if (count <= 0) {
          return false;
        }
        done += count;
      }
      at += part.byteSize();
    }
    return true;
  }

  /// Fills `parts`, one after the other, from `offset` of a file on by one call, so that the system fetches all of it
  /// at once.
  ///
  /// @return false if it did not, for whatever reason; the parts may have anything then
  static boolean readAtOnce(int descriptor, long offset, MemorySegment[] parts) {
    Calls calls = CALLS;
    if (calls == null) {
      return false;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment vectors = arena.allocate(ValueLayout.JAVA_LONG, 2L * parts.length);
      for (int i = 0; i < parts.length; i++) {
        vectors.setAtIndex(ValueLayout.JAVA_LONG, 2L * i, parts[i].address());
        vectors.setAtIndex(ValueLayout.JAVA_LONG, 2L * i + 1, parts[i].byteSize());
      }
      return calls.preadv(descriptor, vectors.address(), parts.length, offset) == RecordParts.bytes(parts);
    }
  }

  /// The size of a page of the system's memory: 4 KiB, but 16 or 64 KiB on some of aarch64.
  static int pageBytes() {
    Calls calls = CALLS;
    return calls == null ? USUAL_PAGE_BYTES : calls.getpagesize();
  }

  /// Has the system take these bytes of a file out of its cache, but for those that are not on the medium yet.
  ///
  /// @return false if it does not know the call, or did not want to
  static boolean letGo(int descriptor, long offset, long bytes) {
    Calls calls = CALLS;
    return calls != null && calls.posix_fadvise(descriptor, offset, bytes, DONT_NEED) == 0;
  }
}
